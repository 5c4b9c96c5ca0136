"""How well a class is predicted by what was learned from noisy columns, with and without reconstructing them first.

Reconstruction gives distributions, and a decision tree learns from records. So each noisy cell is corrected: numbers,
in their order, are dealt out to the intervals as often as the reconstructed distribution says, and a category is drawn
as likely as each stands behind it. "by class" reconstructs among the records of each class, "global" among all, and "as
it is" not at all. A third way of the paper, "local", is not here: it reconstructs again at every node of the tree, and
takes far longer. Naive Bayes needs the distributions alone.

What was learned is tried on original records that it has not seen.

Source: Agrawal and Srikant, "Privacy-Preserving Data Mining", SIGMOD 2000, section 4; Aggarwal and Yu 2008, section
6.3.1.
"""

import numpy as np

from privnb.measures.base import measure
from privnb.measures.noise.noise_reconstruction import intervals, reconstructed, true_distribution
from privnb.microdata.counts import coded
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.treatment import Unreadable, of_column
from privnb.runtime import expect

WAYS = ("as it is", "global", "by class")
LEARNERS = ("decision tree", "naive Bayes")
BINS = 25  # intervals of a number, at most
FOLDS = 5
LEAF = 0.002  # of the records must be in a leaf, and 5 at least


@measure(kind="utility", better="higher", bounds=(0, 1), unit="share of people", format="{:%} of people", varies=True)
def reconstructed_tree_accuracy(dataset, release, target):
    """How often a decision tree that was learned from reconstructed columns predicts the value of an unseen person.

    By class, of the original records of people who were not learned from. Columns without noise are read as they are.

    Unreadable for labels and for buckets, for a target that is numeric or not exact, and where rows are nobody's.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    target : str
        An attribute of categories, published as it is.

    Returns
    -------
    float

    Source: Agrawal and Srikant, SIGMOD 2000, section 4 (ByClass).
    """
    return predicted(dataset, release, target)


@measure(kind="utility", better="higher", bounds=(0, 1), unit="share of people", format="{:%} of people", varies=True)
def reconstructed_bayes_accuracy(dataset, release, target):
    """How often naive Bayes on reconstructed columns predicts the value of an unseen person.

    By class, of the original records of people who were not learned from. Columns without noise are read as they are.

    Unreadable for labels and for buckets, for a target that is numeric or not exact, and where rows are nobody's.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    target : str
        An attribute of categories, published as it is.

    Returns
    -------
    float

    Source: Aggarwal and Yu 2008, section 6.3.1.
    """
    return predicted(dataset, release, target, learner="naive Bayes")


def predicted(dataset, release, target, *, learner="decision tree", way="by class", folds=FOLDS, seed=1):
    """How often the value of an unseen person is predicted.

    Parameters
    ----------
    dataset : Dataset
    release : Release
    target : str
        An attribute of categories, published as it is.
    learner : str
        "decision tree" or "naive Bayes".
    way : str
        "by class", "global" or "as it is", without reconstruction.
    folds : int
        From 2. Each is predicted by what was learned from the others.
    seed : int
        Deals out the folds and the categories.

    Returns
    -------
    float
        0 to 1; higher is better. The share of the commonest value is what a guess without any column reaches.

    Raises
    ------
    Unreadable
        As of the measures.
    """
    expect.these(dataset=dataset, release=release, target=target, folds=folds, seed=seed)
    expect.one_of("learner", learner, LEARNERS)
    expect.one_of("way", way, WAYS)
    original = release.originals(dataset)
    columns = _columns(dataset, release, target)
    classes, values = coded(original.cells[target])
    if folds > len(classes):
        raise ValueError(f"folds must be at most the {len(classes)} records, got {folds}.")
    rng = np.random.default_rng(seed)
    fold, right = rng.permutation(len(classes)) % folds, 0
    true = {n: _interval(np.asarray(original.table[n]), attribute) for n, (attribute, _) in columns.items()}
    learn = _tree if learner == "decision tree" else _naive_bayes
    for each in range(folds):
        seen, unseen = fold != each, fold == each
        cells = {name: np.asarray(release.table[name])[seen] for name in columns}
        guesses = learn(columns, cells, classes[seen], len(values), way, {n: t[unseen] for n, t in true.items()}, rng)
        right += int((guesses == classes[unseen]).sum())
    return right / len(classes)


def _columns(dataset, release, target):
    """The attribute and the law, or None, of each column that is learned from: `{name: pair}`."""
    kinds = {name: treatment.kind for name, treatment in release.columns.items()}
    attribute = dataset.schema[target]
    if attribute.numeric or kinds.get(target) != "exact":
        what = "is numeric" if attribute.numeric else f"is {kinds.get(target, 'not published')}"
        raise Unreadable(
            f"classes are learned of categories that are published as they are, exact, and '{target}' {what}. Choose "
            "another target."
        )
    found = {}
    for name in (name for name in release.schema.published if name != target and name in dataset.schema.published):
        if kinds[name] == "suppressed" and (release.table[name] == SUPPRESSED).all():
            continue  # nothing to learn from
        if kinds[name] not in ("exact", "perturbed", "noisy"):
            raise Unreadable(
                f"a distribution is reconstructed of values, exact, perturbed or noisy, and '{name}' is {kinds[name]}. "
                "Mine the release with `good_utility`."
            )
        found[name] = dataset.schema[name], release.columns[name].law
    return found


def _distribution(cells, attribute, law, way, name):
    if law is None or way == "as it is":
        return true_distribution(cells, attribute, bins=BINS)
    with of_column(name):
        return reconstructed(cells, law, attribute, bins=BINS)


def _tree(columns, cells, classes, number, way, asked, rng):
    """What a tree guesses of records whose intervals are `asked`."""
    from sklearn.tree import DecisionTreeClassifier

    learned = {}
    for name, (attribute, law) in columns.items():
        groups = classes if way == "by class" else np.zeros(len(classes), dtype=np.int64)
        learned[name] = _corrected(cells[name], attribute, law, way, groups, rng, name)
    model = DecisionTreeClassifier(min_samples_leaf=max(5, round(LEAF * len(classes))), random_state=0)
    model.fit(_features(columns, learned, len(classes)), classes)
    return model.predict(_features(columns, asked, len(next(iter(asked.values()), []))))


def _features(columns, numbers, rows):
    """Numbers by their interval, categories by a column each."""
    found = [np.zeros((rows, 1))]
    for name, (attribute, _) in columns.items():
        own = numbers[name]
        found.append(own[:, np.newaxis] if attribute.numeric else np.eye(len(attribute.domain.values))[own])
    return np.hstack(found).astype(np.float32)


def _corrected(cells, attribute, law, way, groups, rng, name):
    """The interval of each cell, in which the groups are distributed as is reconstructed: integer array (n,)."""
    if law is None or way == "as it is":
        return _interval(cells, attribute)
    found = np.empty(len(cells), dtype=np.int64)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        shares = _distribution(cells[rows], attribute, law, way, name).shares
        if attribute.numeric:
            numbers = np.asarray(cells[rows], dtype=float)
            lacking = rows[np.isnan(numbers)]
            found[lacking] = _interval(cells[lacking], attribute)
            numbers, rows = numbers[~np.isnan(numbers)], rows[~np.isnan(numbers)]
            order = rows[np.argsort(numbers, kind="stable")]
            ends = np.round(np.cumsum(shares), 12)
            found[order] = np.searchsorted(ends, (np.arange(len(rows)) + 0.5) / len(rows)).clip(max=len(shares) - 1)
        else:
            likely = shares[:, np.newaxis] * law.transition(len(shares))
            ends = np.cumsum(likely / np.maximum(likely.sum(axis=0), 1e-300), axis=0).round(12)
            drawn = rng.random(len(rows))
            found[rows] = (drawn > ends[:, attribute.domain.codes(cells[rows])]).sum(axis=0).clip(max=len(shares) - 1)
    return found


def _naive_bayes(columns, cells, classes, number, way, asked, rng):
    """What naive Bayes guesses of records whose intervals are `asked`."""
    rows = len(next(iter(asked.values()), []))
    counts = np.bincount(classes, minlength=number)
    score = np.tile(np.log(np.maximum(counts, 1e-9)), (rows, 1))
    for name, (attribute, law) in columns.items():
        everybody = np.zeros(len(classes), dtype=np.int64)
        own = _corrected(cells[name], attribute, law, way, everybody, rng, name) if way == "global" else None
        for each in np.flatnonzero(counts):
            some = classes == each
            if own is None:
                shares = _distribution(cells[name][some], attribute, law, way, name).shares
            else:
                shares = np.bincount(own[some], minlength=len(intervals(attribute, BINS)) - 1) / counts[each]
            # One record more of each interval: what was not seen in a class may still be of it.
            score[:, each] += np.log((shares * counts[each] + 1) / (counts[each] + len(shares)))[asked[name]]
    return np.round(score, 9).argmax(axis=1)


def _interval(cells, attribute):
    starts = intervals(attribute, BINS)
    codes = attribute.domain.codes(attribute.domain.filled(cells) if attribute.numeric else cells)
    return np.searchsorted(starts, np.clip(codes, 0, starts[-1] - 1), side="right") - 1
