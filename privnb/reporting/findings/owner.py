"""What an owner asks: how much honest users keep, and which sanitizer to choose."""

from privnb.evaluation.results import check_results, of_one_miner, over_seeds
from privnb.measures.base import t_interval
from privnb.microdata import expect
from privnb.reporting.findings.base import Finding, extremes, report
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


def utility_declines(results):
    """How much each kind of sanitizer costs the miner that loses most, beside a mere guess, and beside leaving out what
    noise blurs.
    """
    expect.these(results=results)
    rows = over_seeds(results)
    mined = sanitized(of(rows, "utility_decline"))
    declines = mined.dropna(subset="value")  # what is withheld is nothing to speak of
    members = declines[(declines.miner_set == "") & of_one_miner(declines)]
    worst = of(declines, "utility_decline", miner="worst", miner_set="")
    if worst.empty and len(mined):
        return report("All declines of the worst miner are withheld: they would tell of few people, or of all but few.")
    if worst.empty:
        return report(
            "No sanitized release was mined, or nobody is guessed right on the original: there is no decline to speak "
            "of."
        )
    seeds = of(results, "utility_decline", miner="worst", miner_set="").seed.nunique()
    good = of(rows, "good_utility", miner_set="")
    return report(
        *(_largest(part, members, seeds) for part in by_sanitizer(worst)),
        *_beside_the_guess(good, worst.loc[worst.value.idxmax()], members),
        *_beside_absence(results, members),
        *_other_sets(of(declines, "utility_decline", miner="worst"), worst),
    )


def _largest(part, members, seeds):
    """The largest decline under one sanitizer, in the paper's words, beside those at its ends."""
    top, strict = part.loc[part.value.idxmax()], by_strictness(part)
    ends = {setting_name(row): row.value for _, row in strict.iloc[[0, -1]].iterrows()} if len(strict) > 1 else {}
    miners = ", ".join(dict.fromkeys(members.miner))
    over = f" Mean over {seeds} seeds." if seeds > 1 else ""
    return Finding.of(
        top,
        f"Largest decline, of {_at(members, top)}",
        format="{:.2%}",
        beside=ends,
        note=f"{top.sanitizer} is ({1 - top.value:.4f}, {{{miners}}})-utility-preserving on this table.{over}",
    )


def _at(members, row):
    """The miner that loses most in the setting of a row."""
    same = same_release(members, row)
    return same.miner[same.value.idxmax()] if len(same) else "the worst miner"


def _beside_the_guess(good, top, members):
    original = good[good.sanitizer == "Identity"].dropna(subset=["value", "baseline"]).set_index("miner")
    if original.empty:
        return
    able = original[original.value > original.baseline]
    useless = listed([miner for miner in original.index if miner not in able.index] or ["none"])
    guess, miner = original.baseline.iloc[0], _at(members, top)
    yield Finding(
        "The commonest value for everybody is right without a release",
        guess,
        format="{:,.0f} people",
        beside={"miners no better on the original": useless},
    )
    if able.empty:
        yield "No miner beats the guess even on the original table: a decline says nothing here."
    elif miner in able.index:
        whole = 1 - guess / able.value[miner]
        yield Finding(
            f"Advantage over that guess which {miner} has lost",
            top.value / whole,
            format="{:.0%}",
            setting=setting_name(top),
            beside={
                "right on the original": f"{able.value[miner]:,.0f} people",
                "guessing would be a decline of": f"{whole:.2%}",
            },
        )


def _beside_absence(results, members):
    """Whether noise costs more or less than leaving out what it blurs."""
    rows = of(results, "utility_decline")
    rows = rows[rows.miner.isin(members.miner)]
    absent, noise = rows[rows.sanitizer == "Suppress"], rows[rows.parameter == "epsilon"]
    pairs = noise.merge(absent, on=["miner", "seed"], suffixes=("", "_absent"))
    apart = [_apart(pair) for _, pair in pairs.groupby(["sanitizer", "parameters", "miner"], sort=False)]
    if not apart:
        return
    verdicts = {
        (): "There is no evidence that noise differs from leaving these attributes out.",
        ("less",): "Nowhere is there evidence that noise costs more than leaving these attributes out.",
        ("more",): "Where noise costs more, a user does better without these attributes: it misleads the miner.",
        (
            "less",
            "more",
        ): "Noise costs some miners clearly more than leaving these attributes out, others clearly less.",
    }
    gone = over_seeds(absent)
    beside = {setting_name(row): f"{gone.value.min():.2%} to {gone.value.max():.2%}" for row in gone[:1].itertuples()}
    note = verdicts[tuple(sorted({*apart} - {"same"}))]
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
        most = part.groupby("sanitizer").value.max().sort_values()
        note = ""
        if len(order) > 1 and set(most.index) == set(order.index):
            agrees = "agrees" if [*most.index] == [*order.index] else "does not agree"
            note = f"It {agrees} with the main set on which of them costs more."
        subject = f"Largest decline, of the set {miner_set}"
        beside = {f"at most, {sanitizer}": value for sanitizer, value in most[:-1].items()}
        top = part.loc[part.value.idxmax()]
        yield Finding.of(top, subject, format="{:.2%}", beside=beside, note=note)


def owner_choice(chosen):
    """Which sanitizer each scenario leads to, under which criteria and seeds that stays, and how far the others lie."""
    check_results("chosen", chosen)
    if of(chosen, "chosen").empty:
        return report(
            "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing to choose. "
            "Lower MIN_GOOD, or try others."
        )
    chosen = chosen.assign(feared=scenario(chosen), criterion=criterion(chosen))
    found, picks = [], {}
    for feared, part in of(chosen, "chosen").groupby("feared", sort=False):
        first = most_often(part).set_index("criterion", drop=False)
        if WORST not in first.index:
            found.append(f"Scenario {feared}: by the worst miner too few people are hit to compare.")
            continue
        picks[feared] = setting_name(first.loc[WORST])
        found += _chosen(feared, first, of(chosen, "excess_over_choice", feared=feared))
    same = f"The choice is the same in scenarios {listed(list(picks))}."
    if len(set(picks.values())) > 1:
        same = "The choice depends on the scenario: on what the owner fears."
    return report(
        *found,
        same if len(picks) > 1 else "",
        "Only the sanitizers that were run and keep enough good utility were compared, and only these miners attacked. "
        "That no attack is found is not safety: other miners, and people who know more, remain.",
    )


def most_often(choices):
    """What each criterion chooses most often in one scenario: a row per criterion, in their order."""
    first = choices.sort_values("value", ascending=False, kind="stable").drop_duplicates(["feared", "criterion"])
    return first.sort_index()


def _chosen(feared, first, others):
    """One scenario: the choice by the worst miner, by which other criteria it stays, and how far the others lie."""
    row = first.loc[WORST]
    pick, rest = setting_name(row), first.drop(WORST)
    away = {}
    for each in rest.itertuples():
        away.setdefault(setting_name(each), []).append(each.criterion)
    agree = len(away.pop(pick, []))
    beside = {"other criteria that choose the same": f"{agree} of {len(rest)}"} if len(rest) else {}
    known, few = others.dropna(subset="value"), others[others.value.isna()]
    alone = len(known) > 0 and known.low.isna().all()  # a withheld margin has no interval either
    tied = known[known.low.fillna(known.value) <= TIED]  # one seed has no interval
    note = "One seed: other noise and order may lead elsewhere." if alone else ""
    note = note if len(others) else "No other sanitizer keeps enough good utility."
    yield Finding(
        f"Scenario {feared}: by the worst miner the owner chooses {pick}, in",
        1 if alone else row.value,
        format="one seed" if alone else "{:.0%} of the seeds",
        beside=beside
        | {f"{choice} instead": f"by {listed(criteria)}" for choice, criteria in away.items()}
        | ({"not distinguishable from it": _names(tied)} if len(tied) else {})
        | ({"withheld, as few people are hit": _names(few)} if len(few) else {}),
        note=note,
    )
    # It counts people, but in scenario W, where the owner may have weighted them.
    subject, format = "more people for whom the worst miner comes nearer", "{:,.0f} people"
    if feared == "W":
        subject, format = "more by the owner's weights for the worst miner", "{:,.1f}"
    clear = known[~known.index.isin(tied.index)].nsmallest(1, "value")
    for _, best in clear.iterrows():
        yield Finding.of(best, f"Scenario {feared}: {subject}, at least", format=format)


def _names(rows):
    return listed([setting_name(row) for row in rows.itertuples()])
