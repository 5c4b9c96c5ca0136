"""Li and Li 2009, figure 2, as an independent study traced it on Adult: its Mondrian, written plainly, and its numbers.

The paper's own figures are pictures, and the one pair that it prints (k = 5000) depends on ties that it does not tell.
"""

from dataclasses import replace

import numpy as np

from privnb.datasets.dataset import Dataset
from privnb.microdata.hierarchy import Ordered, Ranges
from privnb.microdata.schema import Numbers
from privnb.privacy_models import DeltaDisclosure, FrequencyDiversity, JensenShannonCloseness, KAnonymity
from privnb.sanitizers import Identity
from privnb.sanitizers.generalization.bucketize import publish_in_buckets

# Privacy loss; utility loss of generalization and of bucketization.
FIGURE_2 = {
    KAnonymity(100): (0.3212, 0.0017, 0.0006),
    KAnonymity(1000): (0.2202, 0.0098, 0.0052),
    FrequencyDiversity(3.5, "occupation"): (0.4430, 0.0105, 0.0071),
    JensenShannonCloseness(0.1, "occupation"): (0.0999, 0.0094, 0.0072),
    DeltaDisclosure(2, "occupation"): (0.0835, 0.0257, 0.0213),
}
# Where the privacy model stops the cuts before a median is the largest value, as `Mondrian(split_point="left")` does.
SHARED = {
    KAnonymity(5000): (0.0549, 0.0313, 0.0273),
    FrequencyDiversity(5.5, "occupation"): (0.0435, 0.0385, 0.0368),
    DeltaDisclosure(1, "occupation"): (0.0159, 0.0402, 0.0385),
    DeltaDisclosure(1.5, "occupation"): (0.0549, 0.0321, 0.0299),
    DeltaDisclosure(4, "occupation"): (0.0899, 0.0252, 0.0205),
}


def on_a_line(adult):
    """The study `li-li` with every quasi-identifier on a line of the values that occur, in the order of its trees."""
    hierarchies = {}
    for name in adult.schema.quasi_identifiers:
        occurring = set(adult.table[name].astype(str))
        hierarchies[name] = Ordered(name, tuple(v for v in adult.hierarchies[name].leaves if v in occurring))
    hierarchies["age"] = Ranges(Numbers(int(adult.table.age.min()), int(adult.table.age.max())))
    return Dataset("adult on a line", adult.table, adult.schema, hierarchies)


def releases(dataset, model):
    """The generalized and the bucketized release of its Mondrian: along the widest range that the model allows, the
    median value left, or the value below it where nothing is larger.
    """
    codes = np.column_stack([dataset.codes[name] for name in dataset.schema.quasi_identifiers])
    sizes = np.array([dataset.hierarchies[name].size for name in dataset.schema.quasi_identifiers])
    values = np.unique(dataset.table.occupation, return_inverse=True)[1]
    whole = np.bincount(values)

    def holds(rows):
        counts = np.bincount(values[rows], minlength=len(whole))
        return len(rows) >= model.k if model.sensitive is None else model.holds(counts[None], whole)[0]

    def parts(rows):
        within = codes[rows]
        widths = np.ptp(within, axis=0) / (sizes - 1)
        for a in np.argsort(-widths, kind="stable")[: np.count_nonzero(widths)]:
            upto = np.cumsum(np.bincount(within[:, a]))
            middle = np.argmax(2 * upto >= len(rows))
            left = within[:, a] <= middle if upto[middle] < len(rows) else within[:, a] < middle
            if holds(rows[left]) and holds(rows[~left]):
                return [*parts(rows[left]), *parts(rows[~left])]
        return [rows]

    classes = np.empty(len(dataset), dtype=np.int64)
    for number, rows in enumerate(parts(np.arange(len(dataset)))):
        classes[rows] = number
    exact = Identity().sanitize(dataset, rng=0)
    labels = {name: h.labels(dataset.codes[name], classes)[classes] for name, h in dataset.hierarchies.items()}
    table, facts = publish_in_buckets(dataset, exact.table, classes, np.random.default_rng(0))
    return replace(exact, table=exact.table.assign(**labels)), replace(exact, table=table, buckets=facts["buckets"])
