"""A table of the Weka miners in Sramka et al. 2010, section 4.4, and of the package's equivalents of these miners."""

import pandas as pd

# Weka name, family, kinds of target in the paper, the nearest miner here or "none: why", and the difference.
_ROWS = """
AODE | bayes | labels | naive Bayes | averages models that each drop one independence
AODEsr | bayes | labels | naive Bayes | as AODE; leaves implied attributes out
BayesNet | bayes | labels | naive Bayes (discretised) | its default is this; cuts numbers by the target
HNB | bayes | labels | naive Bayes | gives each attribute a hidden parent
NaiveBayes | bayes | labels | naive Bayes | the same but for the precision of numbers
NaiveBayesSimple | bayes | labels | naive Bayes | the same but for the least variance
NaiveBayesUpdateable | bayes | labels | naive Bayes | NaiveBayes, fed record by record
WAODE | bayes | labels | naive Bayes | as AODE, weighted by information
RBFNetwork | functions | labels numbers | radial basis functions | two centres (a label), ours 16 in all
SMO | functions | labels | linear classifier | pairwise hinge loss, ours least squares
IB1 | lazy | labels | nearest neighbour | ours counts all people at the least distance
IBk | lazy | labels | nearest neighbour | its default is one neighbour
KStar | lazy | labels | k-nearest neighbours | weighs all records by an entropic distance
LWL | lazy | labels | k-nearest neighbours | a stump on all records, weighted by distance
ConjunctiveRule | rules | labels numbers | decision stump | one rule of several conditions
DTNB | rules | labels | decision table | naive Bayes on the attributes that the table leaves
DecisionTable | rules | labels numbers | decision table | searches both ways; ours adds only
OneR | rules | labels | one rule | cuts numbers by the target, ours in tenths
Ridor | rules | labels | none: rules with exceptions have no counterpart in scikit-learn |
M5Rules | rules | numbers | decision tree | lines in the leaves, ours means
ZeroR | rules | labels numbers | majority | the same
DecisionStump | trees | labels numbers | decision stump | one label against the others
Id3 | trees | labels | unpruned tree | one branch a label, ours two a split
J48 | trees | labels | decision tree | gain ratio and its own pruning
J48graft | trees | labels | decision tree | as J48; grafts branches afterwards
M5P | trees | numbers | decision tree | lines in the leaves, ours means
REPTree | trees | labels numbers | decision tree | prunes by held-out error
RandomForest | trees | labels | random forest | ten trees as well
RandomTree | trees | labels | random tree | the same idea on one-hot columns
SimpleCart | trees | labels | decision tree | its pruning strength is cross-validated
LeastMedSq | functions | numbers | robust regression | median of squares, ours trimmed squares
LinearRegression | functions | numbers | linear regression | leaves attributes out by the Akaike criterion
HyperPipes | misc | labels | hyperpipes | numbers by their range, ours by tenths
MinMaxExtension | misc | labels | none: monotone ordinal classes have no counterpart in scikit-learn |
OLM | misc | labels | none: monotone ordinal classes have no counterpart in scikit-learn |
VFI | misc | labels | feature votes | weighs attributes by their information
"""
WEKA = {
    name: {"family": family, "targets": tuple(targets.split()), "equivalent": equivalent, "difference": difference}
    for name, family, targets, equivalent, difference in (
        [cell.strip() for cell in row.split("|")] for row in _ROWS.strip().splitlines()
    )
}


def equivalents() -> pd.DataFrame:
    """Return the table of equivalents as a DataFrame, with a row for each of Weka's miners."""
    return pd.DataFrame(WEKA).T.assign(targets=lambda table: table.targets.str.join(", "))
