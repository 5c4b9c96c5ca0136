"""What one setting publishes, keeps and gives away."""

from privnb.evaluation.results import check_results, measured, of_one_miner
from privnb.measures import facts
from privnb.microdata import expect
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, beside, report
from privnb.reporting.findings.rows import of, setting_name

# What the answer says of a release, by measure.
COUNTED = {
    "certainty_penalty": "a published cell spans {}",
    "mean_absolute_error": "noise moves a number by {}",
    "change_rate": "noise changes {}",
    "accuracy_gain": "the sensitive value is guessed right for {}",
    "identity_vulnerability": "a row leads to its person for {}",
}


def one_setting(results, refused=""):
    """One release: by counts and, where they ran, by miners.

    Parameters
    ----------
    results : DataFrame
        Tidy results.
    refused : str
        Why there is no release, or empty.

    Returns
    -------
    Sentences
    """
    expect.kind("refused", refused, str)
    if refused:
        return report(f"{B}There is no such release.{B} {refused}")
    check_results("results", results)
    if results.empty:
        return report("These results have no release.")
    # What was counted is of the release that was asked for; the miner is shown the ends as well.
    own = results[results.sanitizer == results.sanitizer.iloc[0]]
    counted = own[own.miner == ""].drop_duplicates("measure").set_index("measure", drop=False)
    said = [
        words.format(Finding.of(counted.loc[measure], guess="by chance").text)
        for measure, words in COUNTED.items()
        if measure in counted.index
    ]
    return report(
        f"Under {B}{setting_name(own.iloc[0])}{B}, {'; '.join(said)}.",
        _kept(results, own.sanitizer.iloc[0]),
        _nearer(own),
        "That is one release, before these readers. Another adversary may reach more: no number here says that it is "
        "safe.",
    )


def _kept(results, asked):
    good = of(results, "good_utility").drop_duplicates("sanitizer").set_index("sanitizer", drop=False)
    if asked not in good.index:
        return "What a miner keeps of it was not measured here."
    row, ends = good.loc[asked], {}
    for end, said in (("Identity", "from the original"), ("Suppress", "from the trivial release")):
        ends |= beside(said, good[(good.index == end) & (good.index != asked)])
    return Finding.of(row, f"A user's {row.miner} rightly predicts the {row.target}", beside=ends, setting="")


def _nearer(own):
    bad = measured(own[(own.measure == "anti_utility") & (own.variant != "distinct")])
    permuted, bad = bad[bad.control == "permuted"], bad[of_one_miner(bad)]
    if bad.empty:
        return "What an adversary's miner gains was not measured here."
    row = bad.iloc[0]
    subject = f"An adversary's {row.miner} comes nearer to the {row.target} than the release"
    controls = {facts("anti_utility").baseline: row.baseline} | beside("its guesses permuted at random", permuted)
    return Finding.of(row, subject, beside=controls, setting="")
