"""Figure 5.1 of Aggarwal and Yu 2008: 66 people, their quasi-identifiers and whether they have hypertension."""

import numpy as np

# (marital status, sex, hours): people with hypertension, people without
CLASSES = {
    ("divorced", "M", 35): (0, 2),
    ("divorced", "M", 40): (16, 1),
    ("divorced", "F", 35): (0, 2),
    ("married", "M", 35): (8, 2),
    ("married", "F", 50): (2, 7),
    ("single", "M", 40): (6, 20),
}


def counts(key=lambda marital, sex, hours: (marital, sex, hours)):
    """Class-by-value counts of the figure's table, generalized by `key`: integer array (classes, 2)."""
    classes = {}
    for row, people in CLASSES.items():
        classes[key(*row)] = classes.get(key(*row), np.zeros(2, dtype=int)) + people
    return np.array(list(classes.values()))


def been(marital):
    """Marital status one level up, figure 5.2."""
    return "never married" if marital == "single" else "been married"


# The generalizations of chapter 5 that its text and figures name.
TABLES = {
    "5.1": counts(),
    "5.11(a)": counts(lambda marital, sex, hours: ()),
    "5.11(b)": counts(lambda marital, sex, hours: been(marital)),
    "5.11(c)": counts(lambda marital, sex, hours: marital),
    "5.11(d)": counts(lambda marital, sex, hours: (marital, hours)),
    "5.20": counts(lambda marital, sex, hours: (been(marital), sex)),
    "5.8(d)": counts(lambda marital, sex, hours: sex if sex == "F" else (sex, marital)),
}
