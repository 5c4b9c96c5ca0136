"""Memorization: the share of synthetic rows that copy a record of the table, compared with the hold-out.

| measure | a synthetic row | without memorization |
|---|---|---|
| `copied_share` | repeats a record more often than it repeats people of the hold-out | 0 |
| `equal_share` | equals a record, by chance or not | the share that equals people of the hold-out |
| `nearest_record_share` | is nearer to a record than to anybody in the hold-out | the share of the records among both |

The measure `nearest_record_share` is weak: rows can copy some of the records and still pass. The measure is reported
because other tools report it.
"""

from dataclasses import dataclass

import numpy as np

from privnb.attacks.linkage.record_linkage import to_coordinates
from privnb.datasets.dataset import Dataset
from privnb.evaluation.evaluation_loop import Case, Question
from privnb.evaluation.results import Row
from privnb.evaluation.risks.membership import MembershipGame
from privnb.measures.base import register_measure
from privnb.measures.disclosure.memorization import estimate_copied_share, share_nearer
from privnb.microdata.counts import count_combinations
from privnb.microdata.release import Published, Release
from privnb.microdata.treatment import Rows, Unreadable
from privnb.runtime.lazy import pd

register_measure(
    "copied_share",
    kind="privacy",
    title="Copied rows",
    sentence="This is the estimated share of synthetic rows that copy a record of the table: they repeat records more "
    "often than they repeat people who are not in the table.",
    source="this package",
    unit="share of rows",
    baseline="no copies",
)
register_measure(
    "equal_share",
    kind="privacy",
    title="Rows that equal a record",
    sentence="This is the share of synthetic rows that equal a record of the table, by chance or because they copy it.",
    source="this package",
    unit="share of rows",
    baseline="rows that equal a person of the hold-out",
)
register_measure(
    "nearest_record_share",
    kind="privacy",
    title="Rows nearer to a record",
    sentence="This is the share of synthetic rows that are nearer to a record of the table than to anybody in the "
    "hold-out. A release can pass this test and still copy records.",
    source="Platzer and Reutterer, Frontiers in Big Data 4, 2021",
    unit="share of rows",
    baseline="the share of the records among the records and the hold-out",
)


def count_equal_rows(dataset: Dataset, release: Release) -> int:
    """Return the number of synthetic rows that equal a record in all columns that are not suppressed."""
    names = [*release.treated("synthetic")]
    whole = pd.concat([release.table[names], dataset.table[names]], ignore_index=True)
    rows, records = np.split(count_combinations(whole).index, [len(release)])
    return int(np.isin(rows, records).sum())


@dataclass(frozen=True)
class Memorization(Question):
    """Question about the copies of records in synthetic rows, and about the nearest records.

    All records and all people of the hold-out are searched. For a sanitizer of this package, the records are those of
    a random half of the people, and the hold-out is the other half.
    """

    primary_measure = "copied_share"
    stochastic = True

    def rows(self, case: Case) -> list[Row]:
        """Return the result rows for the release of one case."""
        game = MembershipGame.of(case)
        if game.release.provenance.rows is not Rows.SYNTHETIC:
            raise Unreadable(
                "only synthetic rows can be accidental copies; the rows of this release are records of the original."
            )
        names = [*game.release.treated("synthetic")]
        parts = [game.release.table, *(game.dataset.table.iloc[each] for each in (game.members, game.others))]
        ends = np.cumsum([len(part) for part in parts])[:-1]
        whole = pd.concat([part[names] for part in parts], ignore_index=True)
        copied = estimate_copied_share(*np.split(count_combinations(whole).index, ends))
        schema = game.release.schema
        published = Published(whole, schema, game.release.hierarchies, game.release.columns)
        domains = [schema[name].domain for name in names]
        widths = np.array([getattr(domain, "width", 1.0) for domain in domains])
        most = np.array([np.inf if hasattr(domain, "width") else 1.0 for domain in domains])
        cells = np.column_stack([to_coordinates(published, name, whole[name]) for name in names]) / widths
        rows, records, others = np.split(cells, ends)
        nearer = share_nearer(rows, records, others, most)
        expected = len(game.members) / (len(game.members) + len(game.others))
        n = len(game.release)
        return [
            case.row("copied_share", copied.value, interval=(copied.low, copied.high), baseline=0, of=n),
            case.row("equal_share", copied.equal, baseline=copied.by_chance, of=n),
            case.row("nearest_record_share", nearer, baseline=expected, of=n),
        ]
