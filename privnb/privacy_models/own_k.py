"""k-anonymity in which each person sets their own k.

Source: Xiao and Tao, "Personalized Privacy Preservation", SIGMOD 2006, and Gedik and Liu, ICDCS 2005, for a k of one's
own; Aggarwal and Yu 2008, section 2.3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privnb.microdata.schema import SchemaError
from privnb.privacy_models.anonymity import check_k
from privnb.privacy_models.base import PrivacyModel, Sensitive
from privnb.runtime import expect
from privnb.runtime.arrays import Array, BoolArray


@dataclass(frozen=True)
class OwnAnonymity(PrivacyModel):
    """Every class has at least as many records as each of its members asks for.

    The level is the size of the class by the largest k that a member asks for; from 1 on all have what they ask for,
    and higher protects more. The column of wishes is published with the release, since each claim is checked in what is
    published; leave it out of the file where a wish is a secret.

    Parameters
    ----------
    ks : tuple of int
        All that can be asked for, each from 1, and different.
    sensitive : str
        The column that holds each record's own k.
    """

    ks: tuple[int, ...]
    sensitive: Sensitive
    better = "higher"
    of_members = True
    of_sizes = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.ks:
            raise ValueError("ks must be one k or more, got none.")
        for k in self.ks:
            expect.whole("each of ks", k, 1)
        if len({*self.ks}) < len(self.ks):
            raise ValueError(f"ks must be different, got {', '.join(map(str, self.ks))}.")
        check_k(max(self.ks))
        object.__setattr__(self, "ks", tuple(sorted(self.ks)))

    def columns(self, values: Sequence[Any]) -> Sequence[Any]:
        asked = {str(value): value for value in values}
        if unknown := sorted(asked.keys() - {str(k) for k in self.ks}):
            raise SchemaError(
                f"{self!r}: '{self.sensitive}' holds {', '.join(unknown)}, which is none of ks. Name every k asked for."
            )
        return [asked.get(str(k), k) for k in self.ks]

    def level(self, counts: Array, whole: Any = None) -> Array:
        wanted = np.array(self.ks + (1,) * (counts.shape[1] - len(self.ks)))
        return counts.sum(axis=1) / np.where(counts > 0, wanted, 1).max(axis=1)

    def holds(self, counts: Array, whole: Any = None) -> BoolArray:
        return self.level(counts) >= 1

    def __str__(self) -> str:
        return f"own k {self.sensitive}"
