"""Laws of numbers to which independent noise was added, uniform or Gaussian: no number can be that far away, or every
one can, so that neither has an epsilon.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 2 (the two kinds).
"""

from dataclasses import dataclass

import numpy as np

from privnb.microdata.treatment import Law
from privnb.runtime import expect

SQRT3 = 3**0.5


@dataclass(frozen=True)
class _Added(Law):
    deviation: float
    step: float

    def __post_init__(self):
        expect.positive("deviation", self.deviation)
        expect.positive("step", self.step)

    def __str__(self):
        return f"{self.name}, standard deviation {self.deviation:g}"

    @property
    def in_steps(self):
        return self.deviation / self.step

    @property
    def variance(self):
        return self.deviation**2

    def amplification(self, size):
        return np.inf


@dataclass(frozen=True)
class Gaussian(_Added):
    """Gaussian noise.

    Parameters
    ----------
    deviation : float
        The standard deviation, in the attribute's unit; above 0.
    step : float
        Of the public domain, in the same unit; above 0.
    """

    name = "Gaussian noise"

    def cumulative(self, noise):
        from scipy.special import ndtr

        return ndtr(np.asarray(noise) / self.deviation)

    def surprise(self, true, seen):
        return ((true - seen) / self.in_steps) ** 2 / 2

    def capacity(self, size):
        # Each cell is best read as the nearest value: half of the noise on the far side of the two ends, and for each
        # two neighbours what stays within half a step.
        return float(1 + (size - 1) * (2 * self.cumulative(self.step / 2) - 1))

    def vulnerability(self, prior, positions):
        """The area under the highest of the bells, each as high as its value is likely."""
        prior = np.asarray(prior, dtype=float)
        centres = np.asarray(positions)[prior > 0] / self.in_steps
        prior = prior[prior > 0]
        # Without the square of the cell, which all share, the logarithm of a bell is a line.
        hull, starts = [0], [-np.inf]
        heights = np.log(prior) - centres**2 / 2
        for each in range(1, len(centres)):
            while True:
                last = hull[-1]
                meet = (heights[last] - heights[each]) / (centres[each] - centres[last])
                if meet > starts[-1]:
                    break
                hull.pop()
                starts.pop()
                if not hull:
                    meet = -np.inf
                    break
            hull.append(each)
            starts.append(meet)
        edges = np.append(starts, np.inf)
        inside = self.cumulative((edges[1:] - centres[hull]) * self.deviation)
        inside -= self.cumulative((edges[:-1] - centres[hull]) * self.deviation)
        return float(prior[hull] @ inside)


@dataclass(frozen=True)
class Uniform(_Added):
    """Uniform noise from -a to a, where a is the standard deviation times the root of 3.

    Parameters
    ----------
    deviation, step : float
        As of `Gaussian`.
    """

    name = "uniform noise"

    @property
    def half(self):
        """The most that the noise moves a number, in the attribute's unit."""
        return self.deviation * SQRT3

    def cumulative(self, noise):
        return np.clip(np.asarray(noise) / (2 * self.half) + 0.5, 0, 1)

    def surprise(self, true, seen):
        # A thousandth of a step more: published numbers are rounded.
        return np.where(np.abs(true - seen) <= self.half / self.step + 1e-3, 0.0, np.inf)

    def capacity(self, size):
        return float(1 + (size - 1) * min(self.step / (2 * self.half), 1))

    def vulnerability(self, prior, positions):
        """The area under the highest of the boxes, each as high as its value is likely."""
        prior, half = np.asarray(prior, dtype=float), self.half / self.step
        positions = np.asarray(positions, dtype=float)
        ends = np.unique(np.concatenate([positions - half, positions + half]))
        middles = (ends[:-1] + ends[1:]) / 2
        first = np.searchsorted(positions, middles - half)
        after = np.searchsorted(positions, middles + half)
        near = first < after
        bounds = np.column_stack([first[near], after[near]]).ravel()
        highest = np.maximum.reduceat(np.append(prior, 0), bounds)[::2]
        return float(highest @ np.diff(ends)[near] / (2 * half))
