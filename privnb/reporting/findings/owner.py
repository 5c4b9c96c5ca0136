"""What an owner asks: how much honest users keep, and which sanitizer to choose."""

from privnb.evaluation.results import of_one_miner, over_seeds
from privnb.measures.base import t_interval
from privnb.reporting.findings.base import Finding, extremes, largest, of_results
from privnb.reporting.findings.rows import (
    WORST,
    by_sanitizer,
    by_strictness,
    criterion,
    listed,
    of,
    same_release,
    sanitized,
    scenario,
    setting_name,
)

TIED = 1e-9  # sums of the same weights differ by less


NO_DECLINE = (
    "No sanitized release was mined, or nobody is guessed right on the original: there is no decline to speak of."
)
NO_CHOICE = (
    "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing to choose. Lower "
    "MIN_GOOD, or try others."
)


@of_results(otherwise=NO_DECLINE)
def utility_declines(results):
    """How much each kind of sanitizer costs the miner that loses most, beside a mere guess, and beside leaving out what
    noise blurs.
    """
    rows = over_seeds(results)
    mined = sanitized(of(rows, "utility_decline"))
    declines = mined.dropna(subset="value")  # what is withheld is nothing to speak of
    members = declines[(declines.miner_set == "") & of_one_miner(declines)]
    worst = of(declines, "utility_decline", miner="worst", miner_set="")
    if worst.empty and len(mined):
        yield "All declines of the worst miner are withheld: they would tell of few people, or of all but few."
    if len(worst):
        seeds = of(results, "utility_decline", miner="worst", miner_set="").seed.nunique()
        for part in by_sanitizer(worst):
            yield _largest(part, members, seeds)
        top = worst.loc[worst.value.idxmax()]
        yield from _beside_the_guess(of(rows, "good_utility", miner_set=""), top, _at(members, top))
        yield from _beside_absence(of(results, "utility_decline"), members)
        yield from _other_sets(of(declines, "utility_decline", miner="worst"), worst)


def _largest(part, members, seeds):
    """The largest decline under one sanitizer, in the paper's words, beside those at its ends."""
    top, strict = part.loc[part.value.idxmax()], by_strictness(part)
    ends = {setting_name(row): row.value for _, row in strict.iloc[[0, -1]].iterrows()} if len(strict) > 1 else {}
    miners = ", ".join(dict.fromkeys(members.miner))
    note = f"{top.sanitizer} is ({1 - top.value:.4f}, {{{miners}}})-utility-preserving on this table."
    note += f" Mean over {seeds} seeds." if seeds > 1 else ""
    return Finding.of(top, f"Largest decline, of {_at(members, top)}", format="{:.2%}", beside=ends, note=note)


def _at(members, row):
    """The miner that loses most in the setting of a row."""
    same = same_release(members, row)
    return same.miner[same.value.idxmax()] if len(same) else "the worst miner"


def _beside_the_guess(good, top, miner):
    """What a mere guess reaches, and how much of its advantage over that a miner has lost."""
    original = good[good.sanitizer == "Identity"].dropna(subset=["value", "baseline"]).set_index("miner")
    if original.empty:
        return
    able, guess = original[original.value > original.baseline], original.baseline.iloc[0]
    useless = {
        "miners no better on the original": listed([*original.index.difference(able.index, sort=False)] or ["none"])
    }
    subject = "The commonest value for everybody is right without a release"
    yield Finding(subject, guess, format="{:,.0f} people", beside=useless)
    if able.empty:
        yield "No miner beats the guess even on the original table: a decline says nothing here."
    elif miner in able.index:
        right = able.value[miner]
        others = {
            "right on the original": f"{right:,.0f} people",
            "guessing would be a decline of": f"{1 - guess / right:.2%}",
        }
        lost, setting = top.value / (1 - guess / right), setting_name(top)
        subject = f"Advantage over that guess which {miner} has lost"
        yield Finding(subject, lost, format="{:.0%}", setting=setting, beside=others)


def _beside_absence(rows, members):
    """Whether noise costs more or less than leaving out what it blurs."""
    rows = rows[rows.miner.isin(members.miner)]
    absent, noise = rows[rows.sanitizer == "Suppress"], rows[rows.parameter == "epsilon"]
    pairs = noise.merge(absent, on=["miner", "seed"], suffixes=("", "_absent"))
    apart = {_apart(pair) for _, pair in pairs.groupby(["sanitizer", "parameters", "miner"], sort=False)}
    if not apart:
        return
    note = "There is no evidence that noise differs from leaving these attributes out."
    if "less" in apart:
        note = "Nowhere is there evidence that noise costs more than leaving these attributes out."
    if "more" in apart:
        note = "Where noise costs more, a user does better without these attributes: it misleads the miner."
    if {"less", "more"} <= apart:
        note = "Noise costs some miners clearly more than leaving these attributes out, others clearly less."
    gone = over_seeds(absent)
    beside = {setting_name(gone.iloc[0]): f"{gone.value.min():.2%} to {gone.value.max():.2%}"}
    yield from extremes(over_seeds(noise), "Noise costs a single miner", format="{:.2%}", beside=beside, note=note)


def _apart(pair):
    """Whether noise costs more, less or the same: seeds paired, or, of one seed, by the intervals of both."""
    row = pair.iloc[0]
    low, high = row.low - row.high_absent, row.high - row.low_absent
    if len(pair) > 1:
        low, high = t_interval((pair.value - pair.value_absent).tolist())
    return "more" if low > 0 else "less" if high < 0 else "same"


def _other_sets(declines, worst):
    """What the miners of the sets beside the main one lose, and whether they agree on which sanitizer costs more."""
    order = worst.groupby("sanitizer").value.max().sort_values()
    for miner_set, part in declines[declines.miner_set != ""].groupby("miner_set", sort=False):
        most, note = part.groupby("sanitizer").value.max().sort_values(), ""
        if len(order) > 1 and set(most.index) == set(order.index):
            agrees = "agrees" if [*most.index] == [*order.index] else "does not agree"
            note = f"It {agrees} with the main set on which of them costs more."
        beside = {f"at most, {sanitizer}": value for sanitizer, value in most[:-1].items()}
        yield from largest(part, f"Largest decline, of the set {miner_set}", format="{:.2%}", beside=beside, note=note)


@of_results("chosen", otherwise=NO_CHOICE)
def owner_choice(chosen):
    """Which sanitizer each scenario leads to, under which criteria and seeds that stays, and how far the others lie."""
    chosen = chosen.assign(feared=scenario(chosen), criterion=criterion(chosen))
    picks = {}
    for feared, part in of(chosen, "chosen").groupby("feared", sort=False):
        first = most_often(part).set_index("criterion", drop=False)
        if WORST in first.index:
            picks[feared] = setting_name(first.loc[WORST])
            yield from _chosen(feared, first, of(chosen, "excess_over_choice", feared=feared))
        else:
            yield f"Scenario {feared}: by the worst miner too few people are hit to compare."
    if len(set(picks.values())) > 1:
        yield "The choice depends on the scenario: on what the owner fears."
    elif len(picks) > 1:
        yield f"The choice is the same in scenarios {listed([*picks])}."
    yield (
        "Only the sanitizers that were run and keep enough good utility were compared, and only these miners attacked. "
        "That no attack is found is not safety: other miners, and people who know more, remain."
    )


def most_often(choices):
    """What each criterion chooses most often in one scenario: a row per criterion, in their order."""
    first = choices.sort_values("value", ascending=False, kind="stable").drop_duplicates(["feared", "criterion"])
    return first.sort_index()


def _chosen(feared, first, others):
    """One scenario: the choice by the worst miner, by which other criteria it stays, and how far the others lie."""
    row, rest = first.loc[WORST], first.drop(WORST)
    pick, away = setting_name(row), {}
    for each in rest.itertuples():
        away.setdefault(setting_name(each), []).append(each.criterion)
    agree = len(away.pop(pick, []))
    known, few = others.dropna(subset="value"), others[others.value.isna()]
    alone = len(known) > 0 and known.low.isna().all()  # a withheld margin has no interval either
    tied = known.low.fillna(known.value) <= TIED  # one seed has no interval
    beside = {"other criteria that choose the same": f"{agree} of {len(rest)}"} if len(rest) else {}
    beside |= {f"{choice} instead": f"by {listed(criteria)}" for choice, criteria in away.items()}
    for said, rows in {"not distinguishable from it": known[tied], "withheld, as few people are hit": few}.items():
        beside |= {said: listed([setting_name(each) for each in rows.itertuples()])} if len(rows) else {}
    note = "One seed: other noise and order may lead elsewhere." if alone else ""
    yield Finding(
        f"Scenario {feared}: by the worst miner the owner chooses {pick}, in",
        1 if alone else row.value,
        format="one seed" if alone else "{:.0%} of the seeds",
        beside=beside,
        note=note if len(others) else "No other sanitizer keeps enough good utility.",
    )
    # It counts people, but in scenario W, where the owner may have weighted them.
    subject, format = "more people for whom the worst miner comes nearer", "{:,.0f} people"
    if feared == "W":
        subject, format = "more by the owner's weights for the worst miner", "{:,.1f}"
    for _, best in known[~tied].nsmallest(1, "value").iterrows():
        yield Finding.of(best, f"Scenario {feared}: {subject}, at least", format=format)
