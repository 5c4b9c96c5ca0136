"""What Brickell and Shmatikov ask: whether even modest privacy is paid for with almost all utility."""

from typing import NamedTuple

from privnb.evaluation.results import SETTING, check_results, over_seeds
from privnb.microdata.sentences import B, C
from privnb.reporting.findings.base import Finding, report
from privnb.reporting.findings.predictions import mined_predictions
from privnb.reporting.findings.rows import ENDS, listed, setting_name

POINTS = "{:+.2f} points"
NOTHING = (
    f"{B}Adversary and researcher cannot be compared here{B}: both are counted in people guessed right, which takes a "
    "sensitive attribute of categories, and no study of this table has one. Give a column of categories that role in "
    f"the description file. {C}06_li_li{C} has losses for numbers too."
)
CLOSE = 1e-9  # shares of information are sums of logarithms


class Statement(NamedTuple):
    """What section 7 says of a release of the coins: which share of an attribute's information others tell."""

    parameters: str | None  # of Suppress; None: nothing is suppressed
    words: str
    target: str
    given: str  # "": all else that is published
    share: float


STATEMENTS = (
    Statement(None, "Q tells half of S", "a3", "a1, a2", 0.5),
    Statement("attributes=a2", "without a2, Q tells nothing of S", "a3", "a1", 0),
    Statement("attributes=a2", "a4 is learned exactly from a1 and a3", "a4", "a1, a3", 1),
    Statement("attributes=a2", "a5 is learned exactly from a1 and a3", "a5", "a1, a3", 1),
    Statement("attributes=a2", "a3 is learned exactly from a1, a4 and a5", "a3", "a1, a4, a5", 1),
    Statement("", "without Q, half of a3", "a3", "", 0.5),
    Statement("", "without Q, nothing of a4", "a4", "", 0),
    Statement("", "without Q, nothing of a5", "a5", "", 0),
    Statement("attributes=sensitive", "without S, nothing of a4", "a4", "", 0),
    Statement("attributes=sensitive", "without S, half of a5", "a5", "", 0.5),
)


def judged(shares):
    """Each statement of section 7 beside what `disclosures.information_shares` of the coins gives.

    A list of (statement, the set that is meant, its share, the shares that any set gives, whether the statement holds).
    Statements on releases that the results lack are left out.
    """
    found = []
    for statement in STATEMENTS:
        sanitizer, parameters = ("Identity", "") if statement.parameters is None else ("Suppress", statement.parameters)
        here = shares[(shares.sanitizer == sanitizer) & (shares.parameters == parameters)]
        share = here[here.target == statement.target].set_index("knows").value
        if len(share):
            meant = statement.given or max(share.index, key=len)
            holds = abs(share[meant] - statement.share) < CLOSE
            found.append((statement, meant, share[meant], sorted(set(share.round(9) + 0.0)), holds))
    return found


def both_sides(results):
    """The gains of adversary and researcher, one row per data set, workload and release, over all seeds.

    Columns `adversary`, `chance` (the same classes with values permuted at random), `gain`, `low`, `high`, `miner`: of
    the researcher's best miner there; NaN for what is not there. The adversary is that of `best_adversary`.
    """
    rows = over_seeds(results[results.measure.isin(["accuracy_gain", "workload_gain"])])
    rows = rows[~((rows.sanitizer == "Suppress") & (rows.parameters != ""))]
    keys = ["dataset", *SETTING, "parameter", "bound"]
    adversary = best_adversary(rows).rename(columns={"value": "adversary", "baseline": "chance"})
    researcher = rows[rows.measure == "workload_gain"]
    best = researcher.sort_values("value", ascending=False, kind="stable").drop_duplicates([*keys, "target"])
    best = best.rename(columns={"value": "gain"})[[*keys, "target", "gain", "low", "high", "miner"]]
    wide = rows[keys].drop_duplicates().merge(researcher[["dataset", "target"]].drop_duplicates(), on="dataset")
    wide = wide.merge(adversary[[*keys, "adversary", "chance"]], on=keys, how="left")
    wide = wide.merge(best, on=[*keys, "target"], how="left")
    return wide.assign(setting=[setting_name(row) for row in wide.itertuples()])


def best_adversary(rows):
    """The `accuracy_gain` of each release: the exact one, or else, as under noise, that of the best miner."""
    best = rows[rows.measure == "accuracy_gain"].sort_values("value", ascending=False, kind="stable")
    best = best.sort_values("miner", key=lambda miner: miner != "", kind="stable")
    return best.drop_duplicates(["dataset", *SETTING]).sort_index()


def sanitized(sides):
    """The rows of `both_sides` that are no end of the scale and known on both sides, with columns `more` and `less`.

    `more`: the adversary gains more than the researcher, beyond the interval, than 0, and than by chance.
    `less`: the researcher gains more than the adversary, and than 0, beyond the interval.
    """
    rows = sides[~sides.sanitizer.isin(ENDS)].dropna(subset=["gain", "adversary"])
    gains = rows.adversary > rows.chance.fillna(0).clip(lower=0)
    less = rows.low > rows.adversary.clip(lower=0)
    return rows.assign(more=gains & (rows.adversary > rows.high), less=less)


def ahead(sides):
    """In how many releases of `both_sides` either side gains more than the other: a `Finding`."""
    known = sanitized(sides)
    return Finding(
        "The adversary gains more than the researcher, beyond the 95 % interval",
        known.more.sum(),
        format=f"{{:.0f}} of {len(known)} releases",
        beside={"less": f"{known.less.sum()}"},
    )


def adversary_and_researcher(compared, others=None, shares=None, predictions=None):
    """How much of the researcher's gain each release keeps beside what the adversary gains, for each workload.

    Parameters
    ----------
    compared : DataFrame
        Of `studies.figures`; of nothing compared it says what that takes.
    others : DataFrame, optional
        Of `studies.others`. What is None is not spoken of.
    shares : DataFrame, optional
        Of `studies.coins`.
    predictions : DataFrame, optional
        Of `studies.gains`.

    Returns
    -------
    Sentences
    """
    for name, each in {"compared": compared, "others": others, "shares": shares, "predictions": predictions}.items():
        if each is not None or name == "compared":
            check_results(name, each)
    found = [*_compared(compared)] if len(compared) else [NOTHING]
    if len(compared) and others is not None:
        found += [each for part in _workloads(others) for each in _others(part)]
    found += [LIMITS] if len(compared) else []
    found += _coins(judged(shares)) if shares is not None else []
    if predictions is not None:
        found.append("Does what miners predict add to what the adversary gains (Sramka et al. 2010, Table 3)?")
        found += mined_predictions(predictions).parts
    return report(*found)


LIMITS = (
    "What the comparison cannot say: a point of accuracy is not worth the same to both sides. The adversary's gain is "
    "a mean over the people in the table, and hides those of whom a class tells much; the researcher's is of one "
    "workload, and others may need what this one does not. A small gain is not proof of privacy."
)


def _compared(compared):
    sides = both_sides(compared)
    yield "There is nothing to compare: no release has both gains." if sanitized(sides).empty else ahead(sides)
    for part in _workloads(compared):
        yield from _workload(part)
    yield from _lemma(compared)


def _workloads(results):
    """The releases of each data set and workload."""
    return [part.set_index("setting") for _, part in both_sides(results).groupby(["dataset", "target"], sort=False)]


def _workload(part):
    """One figure: what the original gives, and what is left of it where the adversary is held to half."""
    name = f"{part.dataset.iloc[0]}, predicting {part.target.iloc[0]}"
    originals = part[part.sanitizer == "Identity"].dropna(subset=["gain", "adversary"])
    if originals.empty:
        yield f"{name}: the original was not mined, so there is nothing to compare with what the adversary gains."
        return
    whole, rows = originals.iloc[0], sanitized(part)
    worth = "" if whole.low > 0 else "There is no utility here that privacy could cost."
    yield _gain(whole, f"{name}: the original gives the researcher", {"by chance": whole.chance}, worth)
    held = rows[rows.adversary <= whole.adversary / 2]
    if held.empty:
        yield f"{name}: no release holds the adversary to half of what the original gives them."
    elif not worth:
        best = held.loc[held.gain.idxmax()]
        kept = "" if best.low > 0 else "That is not distinguishable from nothing. "
        yield Finding(
            f"{name}: held to half of the adversary's gain, a release keeps of the researcher's",
            best.gain / whole.gain,
            best.low / whole.gain,
            best.high / whole.gain,
            "{:.0%}",
            best.name,
            {"the researcher": POINTS.format(100 * best.gain), "the adversary": POINTS.format(100 * best.adversary)},
            note=f"{kept}The best of {len(held)}, chosen by the same numbers, which looks better than it is; the "
            "interval takes the original's gain as exact.",
        )
    loose = rows.drop(held.index)
    if len(loose):
        yield _gain(loose.loc[loose.gain.idxmax()], f"{name}: not held to half, a release gives the researcher")


def _gain(row, subject, beside=None, note=""):
    """The researcher's gain in a release, beside the adversary's, in points."""
    points = {"the adversary": 100 * row.adversary} | {name: 100 * each for name, each in (beside or {}).items()}
    numbers = 100 * row[["gain", "low", "high"]].astype(float)
    return Finding(f"{subject} ({row.miner})", *numbers, POINTS, row.name, points, note=note)


def _lemma(compared):
    """Lemma 1 on each delta-disclosure-private release."""
    rows = compared[(compared.parameter == "delta") & (compared.miner == "")]
    rows = rows.pivot_table(index=["dataset", "parameters", "bound"], columns="measure", values="value", sort=False)
    rows = rows.reindex(columns=["information_gain", "largest_quotient"]).dropna()  # either may be withheld
    if rows.empty:
        return
    delta = rows.index.get_level_values("bound")
    holds = (rows[["information_gain", "largest_quotient"]].lt(delta, axis=0)).all(axis=1)
    yield Finding(
        "Lemma 1 bounds the information gain of a delta-disclosure-private release by delta; it holds on",
        holds.sum(),
        format=f"{{:.0f}} of {len(rows)} releases",
        beside={"the nearest comes to": f"{(rows.information_gain / delta).max():.1%} of its bound"},
    )


def _others(part):
    """The other sanitizers: which are worth more to the researcher than trivial ones, and what they tell."""
    rows = part[~part.sanitizer.isin(ENDS)]
    name = f"Other sanitizers, {part.dataset.iloc[0]}, predicting {part.target.iloc[0]}"
    known = rows.dropna(subset=["gain", "adversary"])
    sure, lacking = known[known.low > 0], rows.index.difference(known.index, sort=False)
    if sure.empty:
        yield f"{name}: none gives the researcher more than the better trivial release, beyond the 95 % interval."
    else:
        yield f"{name}: these give the researcher more than the better trivial release, beyond the 95 % interval."
        yield [_gain(row, "The researcher gains") for _, row in sure.iterrows()]
    if len(lacking):
        yield f"Without a researcher who can read it, or an adversary: {listed([*lacking])}."


def _coins(found):
    wrong = {
        f'"{statement.words}"': f"claimed {statement.share:g}, {meant} tell {share:g}"
        for statement, meant, share, _, holds in found
        if not holds
    }
    if found:
        subject, right = (
            "Section 7's coins have both privacy and utility; statements that hold",
            len(found) - len(wrong),
        )
        yield Finding(subject, right, format=f"{{:.0f}} of {len(found)}", beside=wrong)
