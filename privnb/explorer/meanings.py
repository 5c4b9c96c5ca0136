"""What each number on the board means: its title, a sentence for people, which direction is better, its source."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """`better`: "lower", "higher", or "" where neither is."""

    title: str
    sentence: str
    better: str
    source: str


_BRICKELL = "Brickell and Shmatikov, KDD 2008, section 4"
_LI = "Li and Li, KDD 2009, section 4"
_SRAMKA = "Sramka et al. 2010, section 2"
_ALVIM = "Alvim et al., PoPETs 2022(4)"

# Of each measure; of anti-utility by its scenario.
MEANINGS = {
    "classes": Meaning(
        "Classes", "Groups of people whom the released quasi-identifiers cannot tell apart.", "",
        "Samarati and Sweeney, 1998",
    ),
    "buckets": Meaning(
        "Buckets", "Groups of people whose sensitive values are published together, in a table of their own.", "",
        "Xiao and Tao, VLDB 2006",
    ),
    "median_class_size": Meaning(
        "Median class", "Half of the classes have so many people or fewer.", "higher", "Samarati and Sweeney, 1998"
    ),
    "median_bucket_size": Meaning(
        "Median bucket", "Half of the buckets have so many people or fewer.", "higher", "Xiao and Tao, VLDB 2006"
    ),
    "k_achieved": Meaning(
        "k achieved", "Nobody can be linked to fewer released records than this. Buckets publish exact"
        " quasi-identifiers, so k is about those.", "higher", "Samarati and Sweeney, 1998",
    ),
    "l_achieved": Meaning(
        "l achieved", "No sensitive value belongs to more than one in l of a class; 1: somebody's is given away.",
        "higher", "l-diversity by frequency: Machanavajjhala et al., ICDE 2006; Xiao and Tao, VLDB 2006",
    ),
    "t_achieved": Meaning(
        "t achieved", "Such a share of the worst class would need another sensitive value to be like the whole table.",
        "lower", "Li, Li, Venkatasubramanian, ICDE 2007, equal distances",
    ),
    "delta_achieved": Meaning(
        "delta achieved", "In the worst class a value is e to the delta times as common, or as rare, as in the table;"
        " infinite: it is absent.", "lower", "Brickell and Shmatikov, KDD 2008, definition 1",
    ),
    "suppressed_records": Meaning(
        "Suppressed records", "People whose quasi-identifiers are all *.", "lower", "counted from the labels"
    ),
    "suppressed_cells": Meaning(
        "Suppressed cells", "Quasi-identifier cells that are *, those of suppressed records among them.", "lower",
        "counted from the labels",
    ),
    "certainty_penalty": Meaning(
        "Certainty penalty", "Mean share of its attribute's values that a quasi-identifier cell may stand for: 0 exact,"
        " 1 suppressed. Exact cells of buckets cost nothing.", "lower", "Ghinita et al., VLDB 2007; Iyengar, KDD 2002",
    ),
    "mean_absolute_error": Meaning(
        "Mean absolute error", "How far noise moves a number, as a share of its domain's width. Noise generalizes"
        " nothing, so it has no certainty penalty.", "lower", "this package",
    ),
    "change_rate": Meaning(
        "Change rate", "How often noise changes a category. Noise generalizes nothing, so it has no certainty penalty.",
        "lower", "this package",
    ),
    "utility_loss": Meaning(
        "Utility loss", "How wrong the release is about large groups of people, in nats; beside it what a release"
        " without quasi-identifiers loses.", "lower", f"{_LI}.2, U_loss",
    ),
    "worse_than_trivial": Meaning(
        "Worse than trivial", "Share of large groups about which the release is more wrong than one without"
        " quasi-identifiers.", "lower", "after Li and Li, KDD 2009, section 4.2",
    ),
    "privacy_loss": Meaning(
        "Privacy loss, worst off", "How far the sensitive values in the worst person's class are from the whole"
        " table's, in nats; beside it the same classes with values dealt out at random. Noise leaves no classes.",
        "lower", f"{_LI}.1, P_loss",
    ),
    "mean_privacy_loss": Meaning(
        "Privacy loss, mean", "The same as a mean over people.", "lower", "after Li and Li, KDD 2009, section 4.1"
    ),
    "certain_disclosure_share": Meaning(
        "Disclosed for certain", "Share of people who lose as much as somebody whose value, the commonest, is told for"
        " certain.", "lower", "after Li and Li, KDD 2009, section 5.1",
    ),
    "accuracy_gain": Meaning(
        "Accuracy gain", "Such a share more of the people is guessed right by the commonest value of their class;"
        " beside it what chance alone gives. Noise has it of a miner only, as a lower bound.", "lower",
        f"{_BRICKELL}.4, A_acc",
    ),
    "knowledge_gain": Meaning(
        "Knowledge gain", "How far the sensitive values in a person's class are from the whole table's, mean over"
        " people; beside it what chance alone gives.", "lower", f"{_BRICKELL}.4, A_know",
    ),
    "identity_vulnerability": Meaning(
        "Whose row it is", "How likely a released row is traced to its person by who has a register of all"
        " quasi-identifiers; beside it a person at random. Of noise in several attributes an estimate.", "lower",
        _ALVIM,
    ),
    "attribute_vulnerability": Meaning(
        "A person's own value", "How likely a person's true value is guessed from its noisy cell alone; beside it the"
        " commonest value.", "lower", "Alvim et al., The Science of Quantitative Information Flow, 2020",
    ),
    "sensitive_vulnerability": Meaning(
        "Sensitive value guessed", "How likely a person's sensitive value is guessed from their class; beside it the"
        " commonest value of the table.", "lower", _ALVIM,
    ),
    "bucket_vulnerability": Meaning(
        "Sensitive value guessed", "How likely a person's sensitive value is guessed by who knows their bucket; beside"
        " it the commonest value of the table.", "lower", _ALVIM,
    ),
    "sensitive_vulnerability, at most": Meaning(
        "Sensitive value guessed, at most", "What the original would tell of it to who knows the quasi-identifiers:"
        " from buckets or noise nobody who knows only these guesses better.", "lower", _ALVIM,
    ),
    "good_utility": Meaning(
        "Good utility", "People whose sensitive value the miner predicts rightly, in cross-validation; beside it the"
        " commonest value for everybody.", "higher", f"{_SRAMKA}.3",
    ),
    "utility_decline": Meaning(
        "Utility decline", "Such a share of the right predictions on the original is lost.", "lower", f"{_SRAMKA}.3"
    ),
    "anti_utility_A": Meaning(
        "Anti-utility", "People of whom the miner's prediction is nearer to the truth than what was released; beside it"
        " the guess without the release.", "lower", "Sramka et al. 2010, section 4.4, scenario A",
    ),
    "anti_utility_B": Meaning(
        "Anti-utility, exact", "People of whom the miner predicts the exact value that the release generalizes; beside"
        " it the guess without the release.", "lower", "Sramka et al. 2010, section 4.4, scenario B",
    ),
    "anti_utility_C": Meaning(
        "Anti-utility among the chosen", "The same as in scenario A, among a twentieth of the people, chosen by lot.",
        "lower", "Sramka et al. 2010, section 4.4, scenario C",
    ),
    "nearer_share": Meaning(
        "Who is hit", "Share of a group for whom the worst miner's prediction is nearer, whatever the scenario; beside"
        " it the guess without the release.", "lower", "after Sramka et al. 2010, section 4.4",
    ),
}  # fmt: skip
