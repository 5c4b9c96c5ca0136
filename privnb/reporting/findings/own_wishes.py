"""What it costs if everybody chooses, in sentences."""

from collections.abc import Iterator
from typing import Annotated

from privnb.evaluation.experiments.own_wishes import AFTER, ALL, BEFORE, FEW, OWN, check_pair
from privnb.evaluation.results import Results
from privnb.reporting.findings.base import Finding, Part, of_results
from privnb.reporting.findings.rows import known, of


@of_results(otherwise="No wish was tried on this table.")
def own_wishes(results: Results, ks: Annotated[tuple[int, int], check_pair]) -> Iterator[Part]:
    """What a k that each asks for loses beside one k for all, and what guarding costs.

    Parameters
    ----------
    results : DataFrame
        Of `experiments.own_k` and `experiments.guards`, joined.
    ks : tuple of int
        The smaller k and the larger one, as of `own_k`.
    """
    k, larger = ks
    losses = of(results, "certainty_penalty")
    if len(losses):
        share = losses.bound.min()
        here = losses[losses.bound == share]
        mine, for_all, small = (here[here.variant == each].iloc[0] for each in (OWN, ALL, FEW))
        beside = {f"k = {larger} for all": for_all.value, f"k = {k} for all": small.value}
        said = f"Loss where {share:.0%} of people ask for k = {larger} and get it"
        yield Finding.of(mine, said, setting="", beside=beside)
        for _, kept in known(results, "wishes_kept", variant=FEW, bound=share).head(1).iterrows():
            yield Finding.of(kept, f"Wishes kept if all get k = {k}", setting="")
    for _, breached in known(results, "wishes_breached", variant=BEFORE).head(1).iterrows():
        yield Finding.of(breached, "People who guard their value and are breached all the same", setting="")
    after = of(results, "value_loss", variant=AFTER)
    reached = after.dropna(subset="value")
    for _, most in reached.nlargest(1, "bound").iterrows():
        yield Finding.of(most, f"Loss of values so that nobody is, where {most.bound:.0%} guard theirs", setting="")
    if len(after) > len(reached):
        lost = after[after.value.isna()].bound.min()
        yield (
            f"Where {lost:.0%} of the people guard their value no generalization of values keeps all wishes: classes "
            "would have to be larger."
        )
