"""What one setting publishes, keeps and gives away."""

import pandas as pd

from privnb.evaluation.results import check_results, measured, of_one_miner
from privnb.microdata import expect
from privnb.microdata.sentences import B, say
from privnb.reporting.findings.base import interval, name, of, people

ENDS = {"Identity": "original", "Suppress": "trivial release"}  # which a release is compared with


def what_one_setting_gives(results, refused=""):
    """One release: by counts and, where they ran, by miners. `refused`: why there is none, or empty."""
    expect.kind("refused", refused, str)
    if not refused:
        check_results("results", results)
    if refused:
        return say(f"{B}There is no such release.{B} {refused}")
    # What was counted is of the release that was asked for; the miner is shown the ends as well.
    asked = results.sanitizer.iloc[0]
    own = results[results.sanitizer == asked]
    return say(
        *filter(None, [_published(own), _kept(results, asked), _gained(own), _nearer(own)]),
        "That is one release, before these readers. Another adversary may reach more: no number here says that it is "
        "safe.",
    )


def _published(own):
    row, parts = own.iloc[0], []
    k = of(own, "k_achieved").value
    if len(k):
        least = k.iloc[0]
        parts.append(
            f"nobody can be linked to fewer than {least:,.0f} released records by what it tells of quasi-identifiers"
            if least > 1
            else "what it tells of quasi-identifiers singles somebody out"
        )
    for measure, said in (
        ("certainty_penalty", "a published cell may stand for {:.1%} of its attribute's values (lower keeps more)"),
        ("mean_absolute_error", "noise moves a number by {:.1%} of its domain on average (lower keeps more)"),
        ("change_rate", "noise changes {:.1%} of the categories (lower keeps more)"),
    ):
        parts += [said.format(value) for value in of(own, measure).value]
    called = name(row) if row.parameters else row.sanitizer
    return f"{B}{called}:{B} {'; '.join(parts)}." if parts else f"{B}{called}{B} is the release."


def _kept(results, asked):
    good = of(results, "good_utility").drop_duplicates("sanitizer").set_index("sanitizer")
    if asked not in good.index:
        return "What a miner keeps of it was not measured here."
    row = good.loc[asked]
    ends = [
        f"{people(good.loc[end], good.loc[end].value)} from the {said}"
        for end, said in ENDS.items()
        if end in good.index and end != asked
    ]
    return (
        f"A user's {row.miner} rightly predicts the {row.target} of {people(row, row.value)}{interval(row, ',.0f')}; "
        f"of {' and '.join(ends)}; the commonest value for all is that of {people(row, row.baseline)}. "
        "Higher is better."
    )


def _gained(own):
    parts = [
        f"is right about the {row.target} of {_more(row.value)} of the people than one who names the commonest value; "
        f"were the values dealt out at random, of {_more(row.baseline)}"
        for row in of(own[own.miner == ""], "accuracy_gain").dropna(subset="value").itertuples()
    ]
    parts += [
        f"finds a person's row with probability {_found(row)}; without the release {row.baseline:.2g}"
        for row in of(own, "identity_vulnerability").itertuples()
    ]
    return f"An adversary who knows all quasi-identifiers {'; and '.join(parts)}. Lower is better." if parts else ""


def _nearer(own):
    bad = measured(own[(own.measure == "anti_utility") & (own.variant != "distinct")])
    chance, bad = bad[bad.control == "permuted"], bad[of_one_miner(bad)]
    if bad.empty:
        return "What an adversary's miner gains was not measured here."
    row = bad.iloc[0]
    between = interval(row, ",.0f") if pd.notna(row.value) else ""
    random = f", guesses at random of {people(chance.iloc[0], chance.iloc[0].value)}" if len(chance) else ""
    return (
        f"An adversary's {row.miner} comes nearer to the {row.target} of {people(row, row.value)}{between} than the "
        f"release; the guess without it does of {people(row, row.baseline)}{random}. Lower is better."
    )


def _found(row):
    """A probability, or where it would tell of fewer than ten people, its bounds."""
    return f"{row.value:.2%}" if pd.notna(row.value) else f"{row.low:.2%} to {row.high:.2%}, for more is withheld"


def _more(share):
    """A difference of shares of people in words.

    >>> _more(0.0792), _more(-0.01)
    ('7.92% more', '1.00% fewer')
    """
    return f"{abs(share):.2%} {'fewer' if share < 0 else 'more'}"
