"""What one setting publishes, keeps and gives away."""

import pandas as pd

from privnb.answers.base import interval, name, of, people, say

NO_RELEASE = ("Identity", "Suppress")  # what a release is compared with


def what_one_setting_gives(results, refused=""):
    """One release: by counts and, where they ran, by miners. `refused`: why there is none, or empty."""
    if refused:
        return say(f"**There is no such release.** {refused}")
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
    k = of(own[own.target == "k"], "level_achieved").value
    if len(k):
        least = k.iloc[0]
        parts.append(
            f"nobody can be linked to fewer than {least:,.0f} released records by what it tells of quasi-identifiers"
            if least > 1
            else "what it tells of quasi-identifiers singles somebody out"
        )
    for measure, said in (
        ("certainty_penalty", "a published cell may stand for {:.1%} of its attribute's values (lower keeps more)"),
        ("displacement", "noise moves a cell by {:.1%} of its domain on average (lower keeps more)"),
    ):
        parts += [said.format(value) for value in of(own, measure).value]
    called = name(row) if row.parameters else row.sanitizer
    return f"**{called}:** {'; '.join(parts)}." if parts else f"**{called}** is the release."


def _kept(results, asked):
    good = of(results, "good_utility")
    if good.empty:
        return "What a miner keeps of it was not measured here."
    by = good.drop_duplicates("sanitizer").set_index("sanitizer")
    row = by.loc[asked]
    ends = [
        f"{people(by.loc[end], by.loc[end].value)} from {said}"
        for end, said in (("Identity", "the original"), ("Suppress", "the trivial release"))
        if end in by.index and end != asked
    ]
    verdict = (
        "no more than the trivial release: "
        if "Suppress" in by.index and asked != "Suppress" and row.value <= by.loc["Suppress"].value
        else ""
    )
    return (
        f"A user's {row.miner} predicts {row.target} rightly of {people(row, row.value)}{interval(row, ',.0f')}, "
        f"{verdict}against {' and '.join(ends)}; the commonest value for everybody is right of "
        f"{people(row, row.baseline)}. Higher is better."
    )


def _gained(own):
    parts = []
    for measure, said in (
        (
            "accuracy_gain",
            "guesses the sensitive value of {:+.2%} of the people more, and {:+.2%} if values are dealt out at random",
        ),
        ("identity_vulnerability", "finds a person's row with probability {:.2%}, and {:.4%} without the release"),
    ):
        for row in of(own, measure).itertuples():
            if pd.notna(row.value) and pd.notna(row.baseline):
                parts.append(said.format(row.value, row.baseline))
    return f"An adversary who knows all quasi-identifiers {'; '.join(parts)}. Lower is better." if parts else ""


def _nearer(own):
    bad = own[own.measure.str.fullmatch(r"(weighted_)?anti_utility_[A-Z]") & ~own.miner.str.contains("fusion|worst")]
    if bad.empty:
        return "What an adversary's miner gains was not measured here."
    row, chance = bad.iloc[0], bad[bad.miner == "control: by chance"]
    said = (
        f"An adversary's {row.miner} comes nearer to the {row.target} of {people(row, row.value)}"
        f"{interval(row, ',.0f')} than the release; the guess without it does of {people(row, row.baseline)}"
    )
    if len(chance):
        said += f", guesses at random of {people(chance.iloc[0], chance.iloc[0].value)}"
    return f"{said}. Lower is better."
