"""Prosecutor, journalist and marketer risk: three adversaries, from class sizes in the sample and in the population."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from privnb.runtime import expect
from privnb.runtime.arrays import FloatArray
from privnb.runtime.errors import UsageError


class RiskOfOne(NamedTuple):
    """The risk that one person is re-identified; each number is from 0 to 1, and lower protects more.

    Attributes
    ----------
    above : float
        The share of people in the sample whose risk is above the cap.
    highest : float
        The risk of the person who is the most at risk.
    mean : float
        The mean risk.
    """

    above: float
    highest: float
    mean: float


class ReidentificationRisks(NamedTuple):
    """The risk for each adversary.

    Attributes
    ----------
    prosecutor : RiskOfOne
        The adversary looks for a person who is known to be in the sample.
    journalist : RiskOfOne
        The adversary looks for any person, who may not be in the sample, with a register of the population.
    marketer : float
        The adversary links all people of the sample with a register of the population: the expected share of correct
        links.
    """

    prosecutor: RiskOfOne
    journalist: RiskOfOne
    marketer: float


def reidentification_risks(
    sample: ArrayLike, population: ArrayLike | None = None, cap: float = 0.2
) -> ReidentificationRisks:
    """Return the prosecutor, journalist and marketer risk of a sample.

    With class sizes f in the sample, F in the population, J classes and n people: the prosecutor's risks are 1 / f, and
    their mean is J / n. The journalist's are 1 / F, and their mean is the larger of J / sum(F) and sum(f / F) / n. The
    marketer's is sum(f / F) / n. If the sample is the population, all three adversaries have the mean J / n.

    Parameters
    ----------
    sample : integer array (classes,)
        The number f of people of the sample in each class, at least 1.
    population : float array (classes,), optional
        The number F of people of the population in each class, at least f: known, or the sum of sampling weights. By
        default, the sample is the population.
    cap : float
        The risk above which a person counts as at risk, above 0 and below 1.

    Raises
    ------
    ValueError
        If the sizes are not those of classes, or a class of the population is smaller than in the sample.

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
