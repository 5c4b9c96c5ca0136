"""The prosecutor, journalist and marketer risk, computed from class sizes in the sample and in the population."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


class RiskOfOne(NamedTuple):
    """A summary of the risks that each person is re-identified; each number is from 0 to 1, and lower protects more.

    Attributes
    ----------
    above : float
        The share of people in the sample whose risk is above the cap.
    highest : float
        The risk of the person with the highest risk.
    mean : float
        The mean risk of the people in the sample.
    """

    above: float
    highest: float
    mean: float


class ReidentificationRisks(NamedTuple):
    """The risk of re-identification by each of three adversaries.

    Attributes
    ----------
    prosecutor : RiskOfOne
        The risk if the adversary looks for a person who is known to be in the sample.
    journalist : RiskOfOne
        The risk if the adversary has a register of the population and looks for any person, who may not be in the
        sample.
    marketer : float
        The expected share of correct links if the adversary links all people in the sample with a register of the
        population.
    """

    prosecutor: RiskOfOne
    journalist: RiskOfOne
    marketer: float


def reidentification_risks(
    sample: ArrayLike, population: ArrayLike | None = None, cap: float = 0.2
) -> ReidentificationRisks:
    """Return the prosecutor, journalist and marketer risk of a sample.

    A class has f people in the sample and F people in the population; the sample has J classes and n people. The
    prosecutor risk of a person is 1 / f, and the mean prosecutor risk is J / n. The journalist risk of a person is 1 /
    F, and the mean journalist risk is the larger of J / sum(F) and sum(f / F) / n. The marketer risk is sum(f / F) / n.
    If the sample is the population, the mean risk is J / n for all three adversaries.

    Parameters
    ----------
    sample : integer array (classes,)
        The number f of people in the sample in each class, at least 1.
    population : float array (classes,), optional
        The number F of people in the population in each class, at least f. The number may be known, or may be the sum
        of the sampling weights of the class. By default, the sample is the population.
    cap : float
        The cap on the risk of a person, above 0 and below 1; `above` is the share of people whose risk exceeds this
        cap.

    Raises
    ------
    ValueError
        If the sizes are not valid class sizes, or if a class is smaller in the population than in the sample.

    Source: El Emam, Guide to the De-Identification of Personal Health Information, CRC Press 2013, chapter 16; Dankar
    and El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010.

    Examples
    --------
    >>> risks = reidentification_risks([1, 3], [10, 30])
    >>> risks.prosecutor, risks.journalist.highest, risks.marketer
    (RiskOfOne(above=1.0, highest=1.0, mean=0.5), 0.1, 0.05)
    """
    f = np.asarray(sample, dtype=float)
    whole = f if population is None else np.asarray(population, dtype=float)
    expect.between("cap", cap, 0, 1, "a risk is a probability")
    if f.ndim != 1 or not len(f) or f.shape != whole.shape or not (f >= 1).all() or not (whole >= f).all():
        raise UsageError(
            "`sample` must hold the number of people in each class, at least 1, and `population` at least as many; got "
            f"{expect.describe_value(sample)} and {expect.describe_value(population)}."
        )
    n, classes = f.sum(), len(f)
    linked = (f / whole).sum() / n

    def risk(sizes: FloatArray, mean: float) -> RiskOfOne:
        return RiskOfOne(float(f[1 / sizes > cap].sum() / n), float(1 / sizes.min()), float(mean))

    return ReidentificationRisks(risk(f, classes / n), risk(whole, max(classes / whole.sum(), linked)), float(linked))
