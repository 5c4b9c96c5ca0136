"""What results say, in plain sentences computed from them: each notebook ends with one of these.

A sentence names its number, what a guess without the release would reach, and which direction is better. Each function
takes tidy results and returns Markdown.
"""

import pandas as pd


def who_stands_out(results):
    """How many people are unique, and which two facts identify most."""
    unique = _of(results, "unique").assign(known=lambda r: r.target.str.count(", ") + 1)
    whole = unique.loc[unique.known.idxmax()]
    pairs = unique[unique.known == min(2, unique.known.max())].dropna(subset="value")
    records = _of(results, "records").value.iloc[0]
    sentences = [
        f"**{_share(whole)} of the {records:,.0f} people are the only one with their {whole.known} "
        f"quasi-identifiers** (95 % interval {whole.low:.1%} to {whole.high:.1%}): whoever knows those finds their "
        "record in an unsanitized release. Without any release nobody is singled out; lower is better."
    ]
    if len(pairs):
        worst = pairs.loc[pairs.value.idxmax()]
        few = worst.target.replace(", ", " and ")
        sentences.append(f"To know no more than {few} is enough to single out {_share(worst)} of them.")
    return _say(*sentences)


def what_it_costs(results):
    """What generalization and noise cost, and whether every k that was asked for was reached."""
    sentences = []
    cost = _of(results, "certainty_penalty")
    cost = cost[cost.sanitizer == "KMember"]
    if len(cost):
        sentences.append(
            f"**A published cell spans {_from_to(cost, '.0%')} of its attribute's domain on average.** 0 % keeps every "
            "value, 100 % is the table without quasi-identifiers; lower keeps more."
        )
        reached = _of(results, "k_achieved").query("sanitizer == 'KMember'")
        levels = ", ".join(f"{row.value:.0f} ({row.parameters})" for row in reached.itertuples())
        sentences.append(f"The smallest class, counted anew from the published labels, has this many people: {levels}.")
    noise = _of(results, "displacement")
    if len(noise):
        sentences.append(
            f"Noise moves a number by {_from_to(noise, '.1f')} times the width of its whole domain, and leaves every "
            "other column as it is."
        )
    return _say(*sentences)


def what_detail_remains(results):
    """Which sanitizer keeps most detail at the strictest bound of each kind, and which least."""
    sentences = []
    for letter, part in results.groupby("target", sort=False):
        bound = part.parameters.str.extract(rf"(?:^|[ ,]){letter}=([0-9.]+)")[0].astype(float)
        # A larger k or l asks for more, a smaller t does.
        strictest = part[bound == (bound.min() if letter == "t" else bound.max())]
        best, worst = strictest.loc[strictest.value.idxmin()], strictest.loc[strictest.value.idxmax()]
        sentences.append(
            f"**At {strictest.parameters.iloc[0].split(', suppress')[0]} a cell spans {best.value:.1%} of its domain "
            f"under {best.sanitizer} and {worst.value:.1%} under {worst.sanitizer}.**"
        )
    sentences.append(
        "All of them keep the same bound; lower keeps more detail. What that detail is worth to a miner is "
        "measured in the next notebook, not here."
    )
    return _say(*sentences)


def what_users_keep(results):
    """Which sanitizer costs an honest user most, and how far down the way to a mere guess that is."""
    declines = _of(results, "utility_decline")
    declines = declines[(declines.miner == "worst") & (declines.sanitizer != "Identity")]
    good = _of(results, "good_utility")
    before, after = good[good.sanitizer == "Identity"].value.max(), good[good.sanitizer != "Identity"].value.min()
    guess = good.baseline.iloc[0]
    sentences = [
        f"**The largest decline of the miners is {_from_to(declines, '.2%')}.** 0 % keeps all that the original gives; "
        "lower is better.",
        f"A guess needs no release at all: always naming the commonest value is right for {guess:,.0f} people. The "
        f"best miner on the original table is right for {before:,.0f}, the worst miner on the worst release for "
        f"{after:,.0f}.",
    ]
    if guess < before:
        sentences.append(
            f"The whole way from the guess to the best is {1 - guess / before:.1%} of the utility: measure a decline "
            "against that."
        )
    else:
        sentences.append("No miner beats the guess even on the original table: a decline says nothing here.")
    return _say(*sentences)


def what_the_adversary_gains(results, links):
    """Nearer predictions and correct links against what a guess reaches."""
    sentences = []
    rows = results[(results.miner == "worst") & (results.measure == "anti_utility_A")]
    for _, part in rows.groupby("sanitizer", sort=False):
        # Where the guess reaches most people, the miner may still gain least: what counts is the difference.
        top = part.loc[(part.value.fillna(part.high) - part.baseline.fillna(0)).idxmax()]
        more = top.value - top.baseline
        verdict = "The miner gains no more than the guess, within its 95 % interval."
        if top.low > top.baseline:
            verdict = f"The miner gains {_people(top, more if more >= 10 else None)} more than the guess."
        sentences.append(
            f"**{_name(top)}: the best miner comes nearer to the truth for {_people(top, top.value)}; the guess "
            f"without the release does so for {_people(top, top.baseline)}.** {verdict}"
        )
    noise = rows[rows.sanitizer == "LaplaceNoise"]
    if len(noise) > 1 and noise.value.is_monotonic_increasing and noise.baseline.is_monotonic_increasing:
        sentences.append(
            "Under noise the number of nearer predictions rises as epsilon falls, and so does the guess: a record "
            "thrown further is easier to come nearer to. The number measures the noise; only its difference from the "
            "guess could be a leak."
        )
    worst = links[links.sanitizer != "Identity"]
    worst = worst.loc[worst.value.idxmax()]
    intact = links[links.sanitizer == "Identity"].value.iloc[0]
    sentences.append(
        f"A neighbour who knows every quasi-identifier finds the right record of {worst.value:.1%} of all people under "
        f"{_name(worst)} (95 % interval {worst.low:.1%} to {worst.high:.1%}), of {intact:.1%} in the original; a row "
        f"drawn at random is right for {worst.baseline:.3%}. Lower is better. An attack that fails does not make a "
        "release safe."
    )
    noise = links[links.sanitizer == "LaplaceNoise"]
    if len(noise) and (noise.low > noise.baseline).all():
        sentences.append(
            f"Of the noisy releases the safest one still gives {noise.value.min():.1%} away: the columns that noise "
            "leaves as they are link people by themselves."
        )
    return _say(*sentences)


def what_predictions_add(results):
    """Whether the worst miner's predictions add more to the adversary's gains than random labels do."""
    wide = results.pivot_table(index=["sanitizer", "parameters"], columns="measure", values="value", sort=False)
    sentences = []
    for gain in ("accuracy_gain", "knowledge_gain"):
        mined, random = (wide[f"{gain}_with_{labels}"] - wide[gain] for labels in ("predictions", "random_labels"))
        sentences.append(
            f"**The worst miner's nearer predictions change the {gain.replace('_', ' ')} by {mined.min():+.4f} to "
            f"{mined.max():+.4f}, upwards in {(mined > 0).sum()} of {len(wide)} releases; as many random labels change "
            f"it by {random.min():+.4f} to {random.max():+.4f}, upwards in {(random > 0).sum()}.**"
        )
    sentences.append(
        "Splitting a class can only raise either gain, whatever the labels say: an increase that random labels show as "
        "well is no evidence that the miner learned anything."
    )
    return _say(*sentences)


def _say(*sentences):
    from IPython.display import Markdown

    return Markdown("\n\n".join(sentences))


def _of(results, measure):
    return results[results.measure == measure]


def _name(row):
    return f"{row.sanitizer}({row.parameters.split(', ')[0]})"


def _people(row, value):
    """A count; a withheld one (or a withheld guess) is said to be small."""
    limit = row.high + 1 if pd.isna(row.value) else 10
    return f"fewer than {limit:.0f} people" if pd.isna(value) else f"{value:,.0f} people"


def _from_to(rows, format):
    """The smallest and the largest value with their settings, or the one that there is."""
    least, most = rows.loc[rows.value.idxmin()], rows.loc[rows.value.idxmax()]
    if len(rows) == 1:
        return f"{least.value:{format}} ({_name(least)})"
    return f"{least.value:{format}} ({_name(least)}) to {most.value:{format}} ({_name(most)})"


def _share(row):
    return "hardly any" if pd.isna(row.value) else f"{row.value:.1%}"
