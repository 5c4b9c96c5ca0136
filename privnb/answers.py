"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns Markdown.
"""

import pandas as pd


def who_stands_out(results):
    """How many people are unique, and what identifies them most."""
    unique = results[results.measure == "unique"].assign(known=lambda r: r.target.str.count(", ") + 1)
    whole = unique.loc[unique.known.idxmax()]
    pairs = unique[unique.known == min(2, unique.known.max())]
    worst = pairs.loc[pairs.value.idxmax()]
    records = _value(results, "records")
    return _say(
        f"**{whole.value:.0%} of the {records:,.0f} people are the only one with their {whole.known} quasi-identifiers** "
        f"(95 % interval {whole.low:.1%} to {whole.high:.1%}): whoever knows those finds their record in an unsanitized release.",
        f"Even {worst.target} alone single out {_share(worst.value)}. Without any release nobody is singled out; lower is better.",
    )


def what_it_costs(results):
    """What generalization and noise cost, and whether every k that was asked for was reached."""
    cost = _of(results, "certainty_penalty")
    sentences = []
    if len(cost):
        first, last = cost.iloc[0], cost.iloc[-1]
        sentences.append(
            f"**{_name(first)} leaves each published cell on average {first.value:.0%} as wide as its attribute's domain, "
            f"{_name(last)} {last.value:.0%}**; 0 % keeps every value, 100 % is the table without quasi-identifiers."
        )
    reached = _of(results, "k_achieved")
    reached = reached[reached.sanitizer == "KMember"]
    if len(reached):
        levels = ", ".join(f"{int(row.value)} for {row.parameters}" for row in reached.itertuples())
        sentences.append(f"Counted from the published labels alone, the smallest class has {levels}.")
    noise = _of(results, "displacement")
    if len(noise):
        sentences.append(
            f"Noise moves a number by {noise.value.min():.1f} to {noise.value.max():.1f} times the width of its whole domain "
            f"({_name(noise.iloc[0])} to {_name(noise.iloc[-1])}), and leaves every other column as it is."
        )
    return _say(*sentences)


def what_users_keep(results):
    """Which sanitizer costs an honest user most."""
    worst = results[
        (results.measure == "utility_decline") & (results.miner == "worst") & (results.sanitizer != "Identity")
    ]
    good = results[results.measure == "good_utility"]
    people = _people(results, good)
    floor = good.baseline.iloc[0]
    most = worst.loc[worst.value.idxmax()]
    least = worst.loc[worst.value.idxmin()]
    after = good[(good.sanitizer != "Identity")].value.min()
    return _say(
        f"**The largest utility decline is {most.value:.2%} ({_name(most)}), the smallest {least.value:.2%} ({_name(least)}).** "
        "0 % keeps all that the original gives; lower is better.",
        f"Beside it stands what needs no release: always guessing the commonest value is right for {floor:,.0f} people, and the "
        f"worst miner on the worst release here is right for {after:,.0f}"
        + (f", {(after - floor) / people:.1%} of all people more." if people else "."),
        "A small decline is therefore no proof that much was kept: compare it with the whole way down to the guess.",
    )


def what_the_adversary_gains(results, links):
    """Nearer predictions and correct links against what a guess reaches."""
    rows = results[results.miner == "worst"]
    sentences = []
    for sanitizer, part in rows[rows.measure == "anti_utility_A"].groupby("sanitizer", sort=False):
        top = part.loc[part.value.idxmax()]
        verdict = "more" if top.value > top.baseline else "no more"
        sentences.append(
            f"**{_name(top)}: the best miner comes nearer to the truth for {_people_text(top.value)} people; "
            f"guessing the middle of the public domain, without any release, does so for {_people_text(top.baseline)}.** "
            f"The miner gains {verdict} than the guess."
        )
    if (rows.sanitizer == "LaplaceNoise").any():
        sentences.append(
            "Under noise this number grows with the noise, because a record thrown further is easier to come nearer to: there it "
            "measures the noise, not a leak."
        )
    worst = links.loc[links.value.idxmax()]
    sentences.append(
        f"A neighbour who knows every quasi-identifier links {_share(worst.value)} correctly under {_name(worst)} "
        f"({worst.low:.2%} to {worst.high:.2%}); drawing a row at random succeeds for {worst.baseline:.3%}. Lower is better, and "
        "an attack that fails here does not make a release safe."
    )
    return _say(*sentences)


def what_predictions_add(results):
    """Whether the worst miner's predictions add more to the adversary's gains than random labels do."""
    wide = results.pivot_table(index=["sanitizer", "parameters"], columns="measure", values="value", sort=False)
    sentences = []
    for gain in ("accuracy_gain", "knowledge_gain"):
        if f"{gain}_with_predictions" not in wide:
            continue
        mined = wide[f"{gain}_with_predictions"] - wide[gain]
        random = wide[f"{gain}_with_random_labels"] - wide[gain]
        sentences.append(
            f"**Putting the worst miner's nearer predictions in raises the {gain.replace('_', ' ')} in {(mined > 0).sum()} of "
            f"{len(wide)} releases, by {mined.min():+.4f} to {mined.max():+.4f}; as many random labels raise it in "
            f"{(random > 0).sum()}, by {random.min():+.4f} to {random.max():+.4f}.**"
        )
    if sentences:
        sentences.append(
            "Splitting a class can only raise either gain, whatever the labels say, so the increase alone is no evidence that the "
            "miner learned anything."
        )
    return _say(*sentences)


def _say(*sentences):
    from IPython.display import Markdown

    return Markdown("\n\n".join(sentences))


def _of(results, measure):
    return results[results.measure == measure]


def _value(results, measure):
    return _of(results, measure).value.iloc[0]


def _people(results, good):
    """Number of people behind good utilities, from a Wilson interval being one of a share: None where it is not known."""
    known = _of(results, "records").value
    return known.iloc[0] if len(known) else None


def _name(row):
    return f"{row.sanitizer}({row.parameters.split(', ')[0]})"


def _people_text(value):
    return "fewer than 10" if pd.isna(value) or 0 < value < 10 else f"{value:,.0f}"


def _share(value):
    return f"{value:.1%} of all people" if value >= 0.0005 else "fewer than 0.05 % of all people"
