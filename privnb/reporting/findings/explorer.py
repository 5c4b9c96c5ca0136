"""What one setting publishes, keeps and gives away."""

from privnb.evaluation.results import check_results, whose
from privnb.microdata import expect
from privnb.microdata.sentences import B
from privnb.reporting.findings.base import Finding, report
from privnb.reporting.findings.rows import setting_name

# What the answer says of a release, by measure.
COUNTED = {
    "certainty_penalty": "a published cell spans {}",
    "mean_absolute_error": "noise moves a number by {}",
    "change_rate": "noise changes {}",
    "accuracy_gain": "a guess of the {target} gains {}",
    "identity_vulnerability": "a row leads to its person for {}",
}


def one_setting(results, refused=""):
    """What is counted of one release.

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
    own = results[results.sanitizer == results.sanitizer.iloc[0]]  # a miner is shown the ends as well
    counted = own[own.miner == ""].drop_duplicates("measure").set_index("measure", drop=False)
    said = [
        words.format(Finding.of(counted.loc[measure], guess="chance").text, target=counted.target[measure])
        for measure, words in COUNTED.items()
        if measure in counted.index
    ]
    return report(
        f"Under {B}{setting_name(own.iloc[0])}{B} ({whose(own)}), {'; '.join(said)}.",
        "Another adversary may reach more: no number here says that this release is safe.",
    )
