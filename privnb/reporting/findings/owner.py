"""What an owner asks: how much honest users keep, and which sanitizer to choose."""

from privnb.evaluation.results import check_results, of_one_miner, over_seeds
from privnb.measures.base import t_interval
from privnb.microdata import expect
from privnb.microdata.names import names_in
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import WORST, by_strictness, criterion, interval, listed, name, scenario

TIED = 1e-9  # sums of the same weights differ by less


def what_users_keep(results):
    """How much each kind of sanitizer costs the miner that loses most, beside a mere guess, and beside leaving out what
    noise blurs.
    """
    expect.these(results=results)
    rows = over_seeds(results)
    declines = rows[(rows.measure == "utility_decline") & (rows.sanitizer != "Identity")]
    released = declines[declines.sanitizer != "Suppress"]
    members = released[(released.miner_set == "") & of_one_miner(released)]
    worst = released[(released.miner == "worst") & (released.miner_set == "")]
    if worst.empty:
        return say("No sanitized release was mined: there is no decline to speak of.")
    seeds = results[
        (results.measure == "utility_decline") & (results.miner == "worst") & (results.miner_set == "")
    ].seed.nunique()
    over = f", mean over {seeds} seeds" if seeds > 1 else ""
    miners = ", ".join(dict.fromkeys(members.miner))
    sentences = []
    for sanitizer, part in worst.groupby("sanitizer", sort=False):
        top = part.loc[part.value.idxmax()]
        settings = listed([row.parameters.split(", ")[0] for row in part.itertuples()])
        sentences.append(
            f"{B}{sanitizer} ({settings}) is ({1 - top.value:.4f}, {{{miners}}})-utility-preserving on this table: no "
            f"miner of the set loses more than {top.value:.2%}{B}{interval(top, '.2%')} of what it predicts right on "
            f"the original, and {_at(members, top)} loses that at {name(top)}{over}. 0 % keeps all; lower is better."
        )
    good = rows[(rows.measure == "good_utility") & (rows.miner_set == "")]
    sentences += [
        *_beside_the_guess(good, worst.loc[worst.value.idxmax()], members),
        *_trends(worst, members),
        *_beside_absence(results, members),
        *_other_sets(released, worst),
    ]
    return say(*sentences)


def _at(members, row):
    """The miner that loses most in the setting of a row."""
    same = members[(members.sanitizer == row.sanitizer) & (members.parameters == row.parameters)]
    return same.miner[same.value.idxmax()] if len(same) else "the worst miner"


def _beside_the_guess(good, top, members):
    original = good[good.sanitizer == "Identity"].set_index("miner")
    if original.empty:
        return
    guess = original.baseline.iloc[0]
    able = original[original.value > original.baseline]
    if able.empty:
        yield "No miner beats the guess even on the original table: a decline says nothing here."
        return
    said = f"A guess needs no release at all: always naming the commonest value is right for {guess:,.0f} people."
    miner = _at(members, top)
    if miner in able.index:
        whole = 1 - guess / able.value[miner]
        said += (
            f" {miner[0].upper()}{miner[1:]} is right for {able.value[miner]:,.0f} on the original: the guess is "
            f"for it a decline of {whole:.2%}, and at {name(top)} it has lost {top.value / whole:.0%} of that way."
        )
    useless = [miner for miner in original.index if miner not in able.index]
    if useless:
        said += f" On the original table no better than the guess: {listed(useless)}."
    sanitized = good[~good.sanitizer.isin(["Identity", "Suppress"])]
    below = sanitized[sanitized.value <= sanitized.baseline]
    if len(below):
        said += f" No better than it on a release: {len(below)} of {len(sanitized)} pairs of miner and setting."
    yield said


def _trends(worst, members):
    """Whether a stricter bound costs more, step by step."""
    for sanitizer, part in worst.groupby("sanitizer", sort=False):
        part = by_strictness(part)
        if len(part) < 2:
            continue
        steps = [
            by_strictness(each).value.is_monotonic_increasing
            for _, each in members[members.sanitizer == sanitizer].groupby("miner")
        ]
        first, last = part.iloc[0], part.iloc[-1]
        rises = "rises at each step" if part.value.is_monotonic_increasing else "does not rise at each step"
        yield (
            f"From {name(first)} to {name(last)} the largest decline {rises}: {first.value:.2%} to {last.value:.2%}. "
            f"Of single miners {sum(steps)} of {len(steps)} lose more at each stricter step."
        )


def _beside_absence(results, members):
    """Whether noise costs more or less than leaving out what it blurs."""
    rows = results[(results.measure == "utility_decline") & results.miner.isin(members.miner)]
    absent, noise = rows[rows.sanitizer == "Suppress"], rows[rows.parameter == "epsilon"]
    if absent.empty or noise.empty:
        return
    left = listed(names_in(absent.parameters.iloc[0].removeprefix("what=")))
    pairs = noise.merge(absent, on=["miner", "seed"], suffixes=("", "_absent"))
    apart = [_apart(pair) for _, pair in pairs.groupby(["sanitizer", "parameters", "miner"], sort=False)]
    if not apart:
        return
    more, less = apart.count("more"), apart.count("less")
    gone = over_seeds(absent).value
    costs = over_seeds(noise).value
    told = (
        f"Noise costs single miners {costs.min():.2%} to {costs.max():.2%}; leaving {left} out altogether costs them "
        f"{gone.min():.2%} to {gone.max():.2%}. Of {len(apart)} pairs of miner and setting the noise costs clearly "
        f"more (beyond the 95 % intervals) in {more}, clearly less in {less}."
    )
    if not more and not less:
        told += f" {B}The noise cannot be told from leaving {left} out altogether.{B}"
    elif not more:
        told += f" {B}Nowhere is noise seen to cost more than leaving {left} out altogether.{B}"
    elif not less:
        told += f" {B}Where it costs more, a user does better without {left}: the noise misleads the miner.{B}"
    yield told


def _apart(pair):
    """Whether noise costs more, less or the same: seeds paired, or, of one seed, by the intervals of both."""
    if len(pair) > 1:
        low, high = t_interval((pair.value - pair.value_absent).tolist())
    else:
        row = pair.iloc[0]
        low, high = row.low - row.high_absent, row.high - row.low_absent
    return "more" if low > 0 else "less" if high < 0 else "same"


def _other_sets(released, worst):
    """What the miners of the sets beside the main one lose."""
    order = worst.groupby("sanitizer").value.max().sort_values()
    others = released[(released.miner == "worst") & (released.miner_set != "")]
    for miner_set, part in others.groupby("miner_set", sort=False):
        most = part.groupby("sanitizer").value.max()
        said = ", ".join(f"{value:.2%} under {sanitizer}" for sanitizer, value in most.items())
        agrees = ""
        if len(order) > 1 and set(most.index) == set(order.index):
            same = list(most.sort_values().index) == list(order.index)
            agrees = f" It {'agrees' if same else 'does not agree'} with the main set on which of them costs more."
        yield f"The set {miner_set} loses at most {said}.{agrees}"


def what_the_owner_chooses(chosen):
    """Which sanitizer each scenario leads to, under which criteria and seeds that stays, and how far the others lie."""
    check_results("chosen", chosen)
    chosen = chosen.assign(feared=scenario(chosen), criterion=criterion(chosen))
    choices = chosen[chosen.measure == "chosen"]
    if choices.empty:
        return say(
            "No sanitizer keeps enough good utility, or too few people are hit to compare: there is nothing to choose. "
            "Lower MIN_GOOD, or try others."
        )
    sentences, picks = [], {}
    for feared, part in choices.groupby("feared", sort=False):
        first = part.sort_values("value", ascending=False, kind="stable").drop_duplicates("criterion").sort_index()
        named = dict(zip(first.criterion, [name(row) for row in first.itertuples()], strict=True))
        if WORST not in named:
            sentences.append(f"Scenario {feared}: by the worst miner too few people are hit to compare.")
            continue
        picks[feared] = named[WORST]
        by_worst = first[first.criterion == WORST].iloc[0]
        others = chosen[(chosen.measure == "excess_over_choice") & (chosen.feared == feared)]
        pick = f"{B}Scenario {feared}: by the worst miner the owner chooses {named[WORST]}{B}"
        said = [
            f"{pick}{_seeds(by_worst, others)}.",
            _survives(named),
            _margin(others, feared),
        ]
        sentences.append(" ".join(part for part in said if part))
    if len(picks) > 1:
        if len(set(picks.values())) == 1:
            sentences.append(f"The choice is the same in scenarios {listed(list(picks))}.")
        else:
            sentences.append("The choice depends on the scenario: on what the owner fears.")
    sentences.append(
        "Only the sanitizers that were run and keep enough good utility were compared, and only these miners attacked. "
        "That no attack is found is not safety: other miners, and people who know more, remain."
    )
    return say(*sentences)


def _seeds(row, others):
    others = others.dropna(subset="value")  # a withheld margin has no interval either
    if len(others) and others.low.isna().all():
        return " (one seed: other noise and order may lead elsewhere)"
    if row.value == 1:
        return ", in all seeds" if len(others) else ""  # without others nothing says how many there were
    return f", in {row.value:.0%} of the seeds"


def _survives(named):
    """By which other criteria the same sanitizer is chosen."""
    others = {said: choice for said, choice in named.items() if said != WORST}
    away = {}
    for said, choice in others.items():
        if choice != named[WORST]:
            away.setdefault(choice, []).append(said)
    if not others:
        return ""
    if not away:
        if len(others) == 1:
            return f"The other criterion chooses the same: {listed(list(others))}."
        return f"All {len(others)} other criteria choose the same."
    said = "; ".join(f"{choice} by {listed(criteria)}" for choice, criteria in away.items())
    stays = len(others) - sum(map(len, away.values()))
    return f"Of {len(others)} other criteria {stays} {'chooses' if stays == 1 else 'choose'} the same. Not so: {said}."


def _margin(others, feared):
    """How much more the worst miner gains under the next best, which cannot be told apart, and which is withheld.

    It counts people, but in scenario W, where the owner may have weighted them.
    """
    if others.empty:
        return "No other sanitizer keeps enough good utility."
    few = others[others.value.isna()]
    told = others.dropna(subset="value")
    tied = told[told.low.fillna(told.value) <= TIED]  # one seed has no interval
    clear = told[~told.index.isin(tied.index)]
    said = []
    if len(tied):
        seeds = "one seed" if tied.low.isna().all() else "these seeds"
        said.append(f"By {seeds} not to be told apart from it: {_names(tied)}.")
    if len(clear):
        best = clear.loc[clear.value.idxmin()]
        among = "those that may be told" if len(few) else "the others" if len(tied) else "all others"
        more = f"comes nearer for {best.value:,.0f} more people{interval(best, ',.0f')}, the fewest"
        if feared == "W":
            more = f"gains {best.value:,.1f} more by the owner's weights{interval(best, ',.1f')}, the least"
        said.append(f"Under {name(best)} the worst miner {more} of {among}.")
    if len(few):
        said.append(f"Few people are hit, so how much more it is under {_names(few)} is withheld.")
    return " ".join(said)


def _names(rows):
    return listed([name(row) for row in rows.itertuples()])
