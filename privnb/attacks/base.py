"""What every attack is: it learns from what was published, and guesses for what an adversary knows already."""

from abc import ABC, abstractmethod
from copy import copy

from privnb.microdata import expect


class Attack(ABC):
    """An adversary of a release. Subclasses are frozen dataclasses of their parameters.

    Neither `fit` nor `predict` nor `baseline` has an argument that carries the truth: it cannot leak into a guess.
    What an attack learned is left on the fitted copy alone, so that one attack serves many releases.
    """

    reads: tuple[str, ...]  # the forms of releases that it can learn from, see `release.FORMS`

    @classmethod
    def check(cls, release):
        """Raise ValueError unless this attack reads releases of the form of `release` (or what it published)."""
        if release.form not in cls.reads:
            able = [other.__name__ for other in Attack.__subclasses__() if release.form in other.reads]
            raise ValueError(
                f"{cls.__name__} reads {' and '.join(cls.reads)} releases, and this one is {release.form}. Choose "
                f"another sanitizer, or an attack that reads it: {', '.join(able) or 'there is none yet'}."
            )

    def fit(self, published):
        """A copy of this attack that has learned from `published` (see `release.Published`).

        Raises ValueError for a form of release that it does not read.
        """
        expect.these(published=published)
        self.check(published)
        fitted = copy(self)
        # Subclasses are frozen for their parameters' sake; what was learned is no parameter.
        vars(fitted).update(_published=published, **self._learn(published))
        return fitted

    @property
    def published(self):
        """What this attack was fitted to. Raises ValueError before `fit`."""
        if "_published" not in vars(self):
            raise ValueError(f"{self!r} has not seen a release yet. Predict with what fit(published) returns.")
        return vars(self)["_published"]

    def _learn(self, published):
        """What is drawn from the release once for all guesses: `{attribute name: value}`, set on the fitted copy."""
        return {}

    @abstractmethod
    def predict(self, known):
        """The guesses, one for each of the m rows of `known`: array, its first axis of length m.

        `known`: DataFrame of what the adversary knows of m people, cells written as releases write them.
        """

    @abstractmethod
    def baseline(self, known):
        """What the adversary would guess without the part of the release that this attack is about; as `predict`."""

    @abstractmethod
    def truth(self, dataset):
        """The right answers, one for each of the n records in the dataset's order. For the evaluator alone."""
