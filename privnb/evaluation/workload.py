"""What a release gives a researcher with a workload, beside what it gives an adversary (Brickell and Shmatikov, KDD
2008, sections 4 to 6).

A workload is one attribute that the researcher wants to predict, sensitive or neutral. They read all that is published;
the adversary knows a person's quasi-identifiers and wants the sensitive attribute. Both are measured in people guessed
right, and against the same ends: the trivial sanitizations, which publish either no quasi-identifier or no sensitive
attribute. Which neutral attributes either may use is a parameter; other choices than the paper's stand in `knows`.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations

import numpy as np

from privnb.attacks import MinerInference
from privnb.evaluation.attributes import published_name, sensitive_name
from privnb.evaluation.cases import Case, Question, ask, reached, reordered
from privnb.evaluation.predictions import miners_of, unseen
from privnb.evaluation.releases import tells_few
from privnb.evaluation.results import row_builder, tidy
from privnb.measures import gains
from privnb.measures.base import state, wilson
from privnb.measures.mining import exact_match
from privnb.microdata import counts, expect, withholding
from privnb.microdata.counts import class_value_counts
from privnb.microdata.hierarchy import SUPPRESSED
from privnb.microdata.names import name_list, names_in
from privnb.microdata.progress import track
from privnb.microdata.schema import Role
from privnb.miners import able, weka
from privnb.privacy_models import DeltaDisclosure, KAnonymity, RecursiveDiversity, TCloseness
from privnb.sanitizers import Identity, Mondrian, Suppress

GAINS = (
    gains.accuracy_gain, gains.knowledge_gain, gains.largest_disclosure, gains.largest_quotient,
    gains.information_gain,
)  # fmt: skip


GUESSES = gains.accuracy_gain, gains.knowledge_gain  # withheld where they would tell of few people guessed right
WORST = gains.largest_disclosure, gains.largest_quotient  # of the class that tells most


state(
    "workload_utility",
    kind="utility",
    better="higher",
    bounds=(0, 1),
    sentence="Share of people whose workload attribute a researcher's miner predicts rightly, in cross-validation.",
    source="Brickell and Shmatikov, KDD 2008, section 5, U_san",
    unit="share of people",
    format="{:.1%} of people",
    baseline="commonest value for all",
    varies=True,
)
state(
    "workload_gain",
    kind="utility",
    better="higher",
    bounds=(-1, 1),
    sentence="How many more people, as a share, a researcher's miner predicts rightly than from the better trivial "
    "release.",
    source="Brickell and Shmatikov, KDD 2008, section 5",
    unit="share of people",
    format="{:+.2%} of people",
    baseline="trivial release",
)
state(
    "information_share",
    bounds=(0, 1),
    sentence="Share of an attribute's information that a set of other attributes holds.",
    source="Brickell and Shmatikov, KDD 2008, section 7",
    axis=False,
)


def trivial():
    """The two trivial sanitizations: no quasi-identifiers; no sensitive attribute. Sections 1 and 4.1."""
    return [Suppress(), Suppress("sensitive")]


def sanitizations(sensitive, workload):
    """The fifteen of Table 3 and Figures 1 to 4, in the order of the table, for a data set's two attributes by name.

    Of Mondrian's variants the one that an independent study found to come nearest to the table: cuts by information
    gain on `workload`, numbers at the largest threshold below the median. No variant known gives its digits.
    """
    expect.these(sensitive=sensitive)
    models = [
        *(KAnonymity(k) for k in (10, 100, 1000)),
        *(RecursiveDiversity(3, l, sensitive) for l in (2, 5, 10, 15)),  # noqa: E741
        *(TCloseness(t, sensitive) for t in (0.4, 0.3, 0.2)),
        *(DeltaDisclosure(delta, sensitive) for delta in (1.2, 1.0, 0.8)),
    ]
    cut = {"split_attribute": "gain", "split_point": "below", "workload": workload}
    return [Identity(), *(Mondrian(model, **cut) for model in models), Suppress()]


def released(dataset, sanitizer, seed=1):
    """The release of a sanitizer; where even all records together break one of its models, the trivial release.

    The convention behind Table 3's l = 15, which 14 values cannot have: no split is allowed, so all are one class.
    """
    expect.these(dataset=dataset, sanitizer=sanitizer, seed=seed)
    return stand_in(Case(dataset, sanitizer, seed))


def stand_in(case):
    """The release of a case, or the one that stands for it, see `released`."""
    known = case.dataset.schema.quasi_identifiers
    if models := [model for model in getattr(case.sanitizer, "models", ()) if model.sensitive not in known]:
        whole = Suppress().sanitize(case.dataset, rng=0)
        counted = [model.counted(whole) for model in models]
        if not all(model.holds(found, found.sum(axis=0)).all() for model, found in zip(models, counted, strict=True)):
            return whole
    return case.release


def disclosure(dataset, sanitizers, *, sensitive=None, knows="", miners="", seed=1, fewest=withholding.LIMIT):
    """What each release tells an adversary of the sensitive attribute (Table 3; the adversary of Figures 1 to 4).

    `knows`: neutral attributes that they know of a person beside the quasi-identifiers: names separated by commas, or
    "all"; empty for the paper's adversary. Their gains are then over what the release without quasi-identifiers tells
    them. `seed` says the noise and the order of the records.

    Rows, baseline: the same classes with the values dealt out at random: `accuracy_gain` (A_acc), `knowledge_gain`
    (A_know), `largest_disclosure` and `largest_quotient` (the class with the largest A_diff, A_quot; the latter is
    infinite unless each class has all values), and `information_gain` (nats), which Lemma 1 keeps below every delta of
    a delta-disclosure-private release, so at most at `largest_quotient`. `posterior_accuracy`: people guessed right, as
    a share; baseline: those guessed without the release.

    `miners`: who else attacks, beside the exact adversary who guesses the commonest value of a class: `accuracy_gain`
    of each miner that learns from the release. They are asked for people as they know them: for their class's cells,
    or for their own quasi-identifiers where noise leaves no classes. A noisy release is refused without miners; a
    bucketized one they do not read.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers, sensitive=sensitive, knows=knows, miners=miners, seed=seed)
    expect.these(fewest=fewest)
    question = Disclosure.of(dataset, sensitive=sensitive, knows=knows, miners=miners, fewest=fewest)
    return reached(ask(dataset, [(sanitizer, seed, [question]) for sanitizer in sanitizers]))


@dataclass(frozen=True)
class Disclosure(Question):
    """What a release tells an adversary of the sensitive attribute; fields and rows as of `disclosure`."""

    sensitive: str
    known: tuple[str, ...] = ()
    knows: str = ""
    miners: str = ""
    fewest: int = withholding.LIMIT

    main = "accuracy_gain"
    reorders = True

    @classmethod
    def of(cls, dataset, *, sensitive=None, knows="", miners="", fewest=withholding.LIMIT):
        """The question to this dataset, whose neutral attributes may be known."""
        sensitive = sensitive_name(dataset, sensitive)
        known, there = _neutral(dataset, knows, sensitive), _neutral(dataset, "all", sensitive)
        knows = "all" if known and known == there else ", ".join(known)
        return cls(sensitive, tuple(known), knows, miners, fewest)

    def rows(self, case):
        row, rows = partial(case.row, target=self.sensitive, knows=self.knows), []
        release, also = stand_in(case), list(self.known)
        if _withheld(release, self.sensitive):  # it is in a table of its own, which tells A_base and nothing of anybody
            release, also = Suppress().sanitize(case.dataset, rng=0), []
        if release.classes is not None or not self.miners:
            rows += _of_classes(row, release, self.sensitive, also, self.fewest, rng=case.stream("deal"))
        if self.miners and MinerInference.can_read(release):
            rows += _of_miners(row, case, release, self.sensitive, also, self.miners, self.fewest)
        return rows


def utility(dataset, sanitizers, *, target, miners="decision tree", neutral="all", seed=1, folds=10):
    """Share of people whose `target` miners predict rightly from each release, in cross-validation: U_san(w) of section
    5; U_max for the original.

    Table 2 is `evaluation.ends()`, the original and the one without quasi-identifiers, for each target. `neutral`: the
    neutral attributes that the researcher uses beside quasi-identifiers and sensitive ones, by name; "all", or empty
    for none. `seed` says the noise, the order of the records and the folds. Rows `workload_utility` of each miner,
    with a 95 % interval; baseline: the commonest value. Where a release withholds the target, that is all that anybody
    can guess, from the table of its own that it is in. Or, in `status`, why a miner has no guess: of a
    bucketized release none has, for miners do not read those.
    """
    expect.these(
        neutral=neutral, dataset=dataset, sanitizers=sanitizers, target=target, miners=miners, seed=seed, folds=folds
    )
    question = Utility(target, miners, neutral, folds)
    question.researcher(dataset, seed)  # which refuses what is no workload
    return reached(ask(dataset, [(sanitizer, seed, [question]) for sanitizer in sanitizers], description="learn"))


@dataclass(frozen=True)
class Utility(Question):
    """Whom miners guess right from a release; fields and rows as of `utility`."""

    target: str
    miners: str = "decision tree"
    neutral: str = "all"
    folds: int = 10

    main = "workload_utility"
    reorders = varies = True

    def researcher(self, dataset, seed):
        return _Researcher(dataset, self.target, self.miners, self.neutral, seed, self.folds)

    def rows(self, case):
        researcher = self.researcher(case.dataset, case.seed)
        return researcher.rows(case.sanitizer, *researcher.learn(stand_in(case)))


def utility_gain(dataset, sanitizers, *, target, miners="decision tree", neutral="all", seed=1, folds=10, over=None):
    """What each release adds to a researcher's utility: U_san(w) - U_base(w) of section 5 (the researcher of Figures 1
    to 4).

    U_base is that of the best miner from the better trivial sanitization. Rows as `utility` has, for the original and
    both trivial sanitizations too, and `workload_gain`: a share of people, with a 95 % interval, each person compared
    with themselves; baseline: 0, the trivial sanitization's. That of the original is all that there is to gain.
    Parameters as of `utility`.

    `over`: the trivial sanitization and the miner, by name, that are known to give U_base: then no other sanitizers
    than `sanitizers` are mined, so that parts of a large comparison are made apart, each with intervals as exact.
    """
    expect.these(
        neutral=neutral, dataset=dataset, sanitizers=sanitizers, target=target, miners=miners, seed=seed, folds=folds
    )
    dataset = reordered(dataset, seed)
    researcher = _Researcher(dataset, target, miners, neutral, seed, folds)
    if over is not None and len(expect.kind("over", over, tuple, list)) != 2:
        raise ValueError(f"over must be a sanitizer and the name of a miner, got {over!r}.")
    every = dict.fromkeys(sanitizers if over else [*trivial(), Identity(), *sanitizers])
    learned = {each: researcher.learn(released(dataset, each, seed)) for each in track(every, "learn")}
    rows = [row for sanitizer, found in learned.items() for row in researcher.rows(sanitizer, *found)]
    base = researcher.base(learned, *over) if over else researcher.best(learned)
    for sanitizer, (by_miner, _) in learned.items() if base is not None else ():
        for name, right in by_miner.items():
            row = partial(researcher.row_builder(sanitizer), "workload_gain", miner=name)
            if withholding.tells(np.array([right.sum(), base.sum()]), len(base)).any():  # it would tell one of them
                rows.append(row(np.nan))
                continue
            gain, error = np.mean(right - base), 1.96 * np.std(right - base) / np.sqrt(len(base))
            rows.append(row(gain, interval=(gain - error, gain + error), baseline=0))
    return tidy(rows)


def information_shares(dataset, sanitizers):
    """Which share of an attribute's information each set of other published attributes holds, for all of them.

    Rows `information_share` of `target` "a4" for who `knows` "a1, a3": 0 (they tell nothing of it) to 1 (they tell it
    exactly). Of sensitive and neutral attributes, from every set of others that the release does not suppress. For
    tables that are a distribution, such as all outcomes of an experiment: of a sample, a large set tells everything by
    chance. Section 7, where data have both privacy and utility.
    """
    expect.these(dataset=dataset, sanitizers=sanitizers)
    rows = []
    for sanitizer in track(sanitizers, "information"):
        release, row = released(dataset, sanitizer), row_builder(dataset, sanitizer, 1)
        told = [name for name in dataset.schema.published if not _withheld(release, name)]
        for target in (name for name in told if release.schema[name].role is not Role.QUASI_IDENTIFIER):
            values, others = release.table[target], [name for name in told if name != target]
            entropy = _information(release.table[[target]], values)
            for given in chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1)):
                share = _information(release.table[list(given)], values) / entropy if entropy else 1.0
                rows.append(row("information_share", share, target=target, knows=", ".join(given)))
    return tidy(rows)


class _Researcher:
    """Someone with a workload: checked, and with what results say of it. The records are in the order of the seed."""

    def __init__(self, dataset, target, miners, neutral, seed, folds):
        attribute = dataset.schema[published_name(dataset, target)]
        if attribute.role is Role.QUASI_IDENTIFIER or attribute.numeric:
            raise ValueError(
                f"'{target}' is no workload: it is {'a number' if attribute.numeric else 'a quasi-identifier'}, seldom "
                "published or predicted exactly. Choose a sensitive or neutral attribute of categories."
            )
        used = _neutral(dataset, neutral, target)
        self.unused = [name for name in dataset.schema.names(Role.NEUTRAL) if name not in (*used, target)]
        self.knows = ", ".join(used) or "no neutral attribute" if self.unused else ""
        self.dataset, self.target = dataset, target
        self.miners, self.seed, self.folds = miners, seed, folds
        self.commonest = np.full(len(dataset), dataset.table[target].mode()[0], dtype=object)

    def learn(self, release, miners=None):
        """Whom the miners guess right: `{miner: array (n,) of 0 and 1}`; and why others have no guess."""
        miners = miners or self.miners
        if _withheld(release, self.target):
            members, _ = able(miners_of(miners), self.commonest)
            return {miner.name: self._right(self.commonest) for miner in members}, {}
        if not MinerInference.can_read(release):  # buckets: whose value is whose is not told
            return {}, {miner.name: "refused" for miner in miners_of(miners)}
        roles = {a.name: a.role for a in release.schema.attributes if a.name not in self.unused}
        schema, table = release.schema.with_roles(roles), release.table.drop(columns=self.unused)
        read = replace(release, table=table, schema=schema)
        found = unseen(read, self.target, miners, folds=self.folds, seed=self.seed)
        return {name: self._right(guess) for name, guess in found.guesses.items()}, found.failed

    def best(self, learned):
        """Whom the best miner on the better trivial release guesses right: array (n,); None where none finished."""
        candidates = [right for sanitizer in trivial() for right in learned[sanitizer][0].values()]
        return max(candidates, key=np.mean, default=None)

    def base(self, learned, sanitizer, miner):
        """Whom that miner guesses right from that release: array (n,); None where it did not finish."""
        found = learned.get(sanitizer, ({}, {}))[0]
        if miner in found:
            return found[miner]
        return self.learn(released(self.dataset, sanitizer, self.seed), miner)[0].get(miner)

    def rows(self, sanitizer, by_miner, failed):
        """The rows of `utility` for one sanitizer, of what `learn` gave."""
        row, baseline = partial(self.row_builder(sanitizer), "workload_utility"), self._right(self.commonest)
        baseline = withholding.share(baseline.sum(), len(baseline))[0]
        rows = [row(np.nan, miner=name, status=why) for name, why in failed.items()]
        for name, right in by_miner.items():
            share, *bounds = withholding.share(right.sum(), len(right))
            bounds = bounds if np.isnan(share) else wilson(int(right.sum()), len(right))
            rows.append(row(share, miner=name, interval=bounds, baseline=baseline))
        return rows

    def row_builder(self, sanitizer):
        return partial(row_builder(self.dataset, sanitizer, self.seed), target=self.target, knows=self.knows)

    def _right(self, guesses):
        return exact_match(guesses, self.dataset.table[self.target].to_numpy())


def _neutral(dataset, names, target):
    """The neutral attributes that a text names, in column order; the target is not one that helps to guess it."""
    there = [name for name in dataset.schema.names(Role.NEUTRAL) if name != target]
    chosen = there if names == "all" else names_in(names)
    unknown = [name for name in chosen if name not in there]
    if unknown:
        raise ValueError(
            f"{unknown} are no neutral attributes of '{dataset.name}' that help to guess '{target}'. Name some of "
            f"{name_list(there) or 'none, for it has no other'}, or all."
        )
    return [name for name in there if name in chosen]


def _withheld(release, name):
    return name in release.table and (release.table[name] == SUPPRESSED).all()


def _of_classes(row, release, sensitive, known, fewest, *, rng):
    found = gains.class_counts(release, sensitive, known)
    before = gains.knowledge_before(release, sensitive, known) if known else None
    chance = gains.permuted_gains(release, sensitive, rng=rng, knows=known, of=GAINS)
    few, rows, n = tells_few(release, sensitive, fewest), [], len(release)
    after = gains.posterior_accuracy(found)
    prior = after - gains.accuracy_gain(found, before)
    share, prior = withholding.share(after * n, n, fewest), withholding.share(prior * n, n, fewest)[0]
    hidden = np.isnan([share[0], prior]).any()
    for gain, dealt in zip(GAINS, chance, strict=True):
        value = gain(found, before)
        untold = few and value > 0 if gain in WORST else hidden and gain in GUESSES
        told = [np.nan, np.nan] if untold else [value, dealt]
        rows.append(row(gain.__name__, told[0], baseline=told[1]))
    return [*rows, row("posterior_accuracy", share[0], interval=share[1:], baseline=prior)]


def _of_miners(row, case, release, sensitive, known, miners, fewest):
    published, key = release._published(case.stream("publish"))
    dataset = case.dataset
    values, groups = published.table[sensitive], counts.combinations(published.table[list(known)]).index
    before = gains.posterior_accuracy(class_value_counts(groups, values))
    lots = gains.permute(groups, np.random.default_rng(case.stream("deal")))
    table = published.table.copy()
    table[sensitive] = values.to_numpy()[lots]
    dealt = published._replace(table=table)
    # A class is found by the quasi-identifiers of a person (section 4.1); the row that noise made of them is not.
    asked = (dataset if release.classes is None else release).table.iloc[key]
    true, rows = dataset.table[sensitive].to_numpy()[key], []
    for miner in able(miners_of(miners), values)[0]:
        attack = MinerInference(miner, sensitive, (*release.schema.quasi_identifiers, *known))
        try:
            right = exact_match(attack.fit(published).predict(asked), true).mean()
            chance = exact_match(attack.fit(dealt).predict(asked), dealt.table[sensitive].to_numpy()).mean() - before
        except (weka.Unfinished, weka.Unavailable, weka.Refused) as error:
            rows.append(row("accuracy_gain", np.nan, miner=miner.name, status=type(error).__name__.lower()))
        else:
            people = np.array([right, before]) * len(true)
            hidden = withholding.tells(people, len(true), fewest).any()
            gain, chance = (np.nan, np.nan) if hidden else (right - before, chance)
            rows.append(row("accuracy_gain", gain, miner=miner.name, baseline=chance))
    return rows


def _information(given, values):
    """What the columns of a DataFrame (n, g) tell about values, array (n,), in nats."""
    return gains.information_gain(class_value_counts(counts.combinations(given).index, values))
