"""How methods of masking numbers are ranked in their own literature: loss and risk as one score, parts always shown."""

from dataclasses import dataclass

from privnb.attacks import OneToOne, ProbabilisticLinkage
from privnb.evaluation.cases import Case, Linked, Question
from privnb.evaluation.results import Row
from privnb.measures.base import state
from privnb.measures.utility import masking
from privnb.microdata import withholding

state(
    "masking_score",
    kind="privacy",
    bounds=(0, float("inf")),
    title="Score of masking",
    sentence="Half the loss and half the risk of masked numbers, both in points: the mean of two things that an owner "
    "may weigh otherwise.",
    source="Domingo-Ferrer and Torra, 2001; Aggarwal and Yu 2008, section 3.6.1",
    unit="points",
    format="{:g} points",
    baseline="the original",
)


@dataclass(frozen=True)
class MaskingScore(Question):
    """The score of Domingo-Ferrer and Torra, and all that it is made of: rows of `masking_loss`, `nearest_record_rate`,
    `rank_interval_rate`, `reidentification_rate` (by agreements, one to one) and `masking_score`.

    score = (loss + (50 nearest + 50 linked + 100 in intervals) / 2) / 2. The adversary knows the masked numbers alone.
    The baseline of the score is that of the original, which loses nothing and is found always: 50.
    """

    main = "masking_score"

    def rows(self, case: Case) -> list[Row]:
        dataset, release = case.dataset, case.release
        loss = masking.masking_loss(dataset, release)
        nearest, near = masking.nearest_record_rate(dataset, release), masking.rank_interval_rate(dataset, release)
        n = release.headcount
        published, masked = dataset.schema.published, release.treated("noisy", "perturbed")
        names = tuple(name for name in masked if name in published and dataset.schema[name].numeric)
        found = Linked(OneToOne(ProbabilisticLinkage(names))).rows(case)
        score = (loss + 100 * (0.5 * nearest + 0.5 * found[0]["value"] + near) / 2) / 2
        return [
            case.row("masking_loss", loss),
            case.row("nearest_record_rate", withholding.Counted(nearest * n, n), baseline=1 / n),
            case.row("rank_interval_rate", near),
            *found,
            # With all its other parts the score would give back how many records are nearest.
            case.row("masking_score", withholding.Revealing(score, nearest * n, n), baseline=50.0),
        ]
