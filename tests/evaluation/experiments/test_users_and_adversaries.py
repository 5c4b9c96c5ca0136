"""Which evaluations an experiment runs, what its averages are over, and that it goes on where it stopped."""

import numpy as np
import pandas as pd
import pytest
from support import questions
from support.results_frame import frame, short

from privnb import evaluation
from privnb.datasets.dataset import Dataset, load
from privnb.evaluation import profiles
from privnb.evaluation.disclosure import nearer_predictions
from privnb.evaluation.experiments import users_and_adversaries
from privnb.evaluation.profiles import Profile
from privnb.evaluation.results import KEY_COLUMNS
from privnb.evaluation.store import Store
from privnb.microdata.hierarchy import flat
from privnb.microdata.schema import Attribute, Categories, Role, Schema
from privnb.miners import reference_set, weka
from privnb.sanitizers import GeometricNoise, Identity, KMember, LaplaceNoise, Suppress

pytestmark = pytest.mark.slow

BESIDE = ("fusion: ", "control: ", "worst by person")  # rows that no average is over
MAIN, SIDE = "majority, naive Bayes, linear regression", "naive Bayes, linear regression, decision stump"
SANITIZERS = [KMember(10), LaplaceNoise(0.5)]


def users(*given, **options):
    return short(users_and_adversaries.evaluate_users(*given, **options))


def adversaries(*given, **options):
    return short(users_and_adversaries.evaluate_adversaries(*given, **options))


def gains(*given, **options):
    return short(users_and_adversaries.evaluate_gains(*given, **options))


def good_utility(*given, **options):
    return short(evaluation.measure_good_utility(*given, **options))


def anti_utility(*given, **options):
    return short(questions.anti_utility(*given, **options))


def gains_with_predictions(*given, **options):
    return short(questions.gains_with_predictions(*given, **options))


@pytest.fixture(scope="module")
def adult():
    return load("adult", records=300)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """What one test has computed is not computed again, unless it has a store of its own."""
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def here(monkeypatch, shared, tmp_path):
    """Tasks run in this process, one by one; the list of them."""
    ran = []

    def run(tasks, store, description):
        ran.extend(tasks)
        kept = store if tmp_path in store.folder.parents else shared
        return [kept.call(task.func, *task.args, **task.keywords) for task in tasks]

    monkeypatch.setattr(profiles, "run_tasks", run)
    return ran


@pytest.fixture
def small(monkeypatch, here):
    """A profile of two sets, the main one with two seeds."""
    profile = Profile({"naive Bayes, majority": 2, "naive Bayes": 1}, {MAIN: 2, SIDE: 1}, {"majority": 2, SIDE: 1})
    monkeypatch.setitem(profiles.PROFILES, "small", profile)
    return "small"


@pytest.fixture(scope="module")
def attacked(adult, shared):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            profiles,
            "run_tasks",
            lambda tasks, store, description: [shared.call(t.func, *t.args, **t.keywords) for t in tasks],
        )
        patch.setitem(profiles.PROFILES, "small", Profile({}, {MAIN: 2, SIDE: 1}, {}))
        return adversaries(adult, SANITIZERS, profile="small", min_count=2)


def seeds(results):
    return results.groupby("miner").seed.apply(lambda column: sorted(set(column))).to_dict()


# Profiles


def test_profiles_name_sets_that_there_are():
    for profile in profiles.PROFILES.values():
        for sets in (profile.users, profile.adversaries, profile.gains):
            for names, repeats in sets.items():
                assert repeats >= 1
                assert names == "Weka" or reference_set(names)
            assert next(iter(sets)) != "Weka", "the main set runs everywhere"
    quick, full = profiles.PROFILES["quick"], profiles.PROFILES["full"]
    for name in ("users", "adversaries", "gains"):
        assert next(iter(getattr(quick, name))) == next(iter(getattr(full, name))), "rows mean the same in both"


@pytest.mark.parametrize("experiment", ["evaluate_users", "evaluate_adversaries", "evaluate_gains"])
def test_what_cannot_be_run_is_said(adult, here, experiment):
    call = getattr(users_and_adversaries, experiment)
    with pytest.raises(ValueError, match=r"PROFILE must be one of quick, full; got 'slow'"):
        call(adult, SANITIZERS[:1], profile="slow")
    with pytest.raises(ValueError, match="seeds must be a whole number from 0 to 1,000; got -1"):
        call(adult, SANITIZERS[:1], seeds=-1)
    with pytest.raises(ValueError, match="there is no miner"):
        call(adult, SANITIZERS[:1], miners="oracle")
    assert here == []
    if experiment != "users":
        with pytest.raises(ValueError, match="there is no sanitizer to run"):
            call(adult, [])


# Users


def test_users_by_set_and_seed(adult, small):
    results = users(adult, SANITIZERS, profile=small)
    assert not results.duplicated(KEY_COLUMNS).any()
    assert seeds(results) == {"majority": [1, 2], "naive Bayes": [1, 2], "worst": [1, 2], "naive Bayes worst": [1]}
    single = good_utility(adult, SANITIZERS, miners="naive Bayes", seed=2)
    found = results[
        (results.miner == "naive Bayes") & (results.seed == 2) & (results.parameters != "attributes=age, education-num")
    ]
    pd.testing.assert_frame_equal(found.reset_index(drop=True), single)
    for _, part in results[results.measure == "utility_decline"].groupby(["sanitizer", "seed"]):
        part = part.set_index("miner").value
        assert part["worst"] == max(part["majority"], part["naive Bayes"])


def test_users_stand_beside_the_attribute_absent(adult, small):
    results = users(adult, SANITIZERS, profile=small)
    assert list(results.sanitizer.unique()) == ["Identity", "KMember", "LaplaceNoise", "Suppress"]
    assert set(results[results.sanitizer == "Suppress"].parameters) == {"attributes=age, education-num"}
    assert set(users(adult, SANITIZERS[:1], profile=small).sanitizer) == {"Identity", "KMember"}


def test_what_noise_can_destroy_at_most(adult):
    assert users_and_adversaries.build_suppressing_sanitizers(adult, SANITIZERS) == [Suppress("age, education-num")]
    assert users_and_adversaries.build_suppressing_sanitizers(
        adult, [LaplaceNoise(1), LaplaceNoise(2), GeometricNoise(1)]
    ) == [Suppress("age, education-num")]
    assert users_and_adversaries.build_suppressing_sanitizers(adult, [KMember(5)]) == []
    drawn = users_and_adversaries.build_suppressing_sanitizers(adult, [KMember(100, start=None), LaplaceNoise(1)])
    assert drawn == [Suppress("age, education-num")], "chance without noise blurs nothing"


def test_users_leave_out_who_cannot_guess_the_target(adult, small, monkeypatch):
    """Linear regression guesses numbers, the boosted trees at most ten labels; fusions are an adversary's."""
    results = users(adult, [KMember(10)], profile=small, miners=f"{MAIN}, fusion: vote", seeds=1)
    assert set(results.miner) == {"majority", "naive Bayes", "worst", "naive Bayes worst"}
    profile = Profile({"majority": 1, "gradient boosting": 1}, {}, {})
    monkeypatch.setitem(profiles.PROFILES, "small", profile)
    results = users(adult, [KMember(10)], profile="small", target="occupation")
    assert set(results.miner) == {"majority", "worst"}
    with pytest.raises(
        ValueError, match=r"\['linear regression'\] cannot predict 'salary'.* Add another miner to MINERS"
    ):
        users(adult, [KMember(10)], profile="small", miners="linear regression")


def test_a_target_of_numbers_or_none_is_refused(adult, small):
    with pytest.raises(ValueError, match="'age' is a number, and numbers are seldom predicted exactly"):
        users(adult, [KMember(10)], profile=small, target="age", miners="majority")
    sex = Attribute("sex", Role.QUASI_IDENTIFIER, Categories(("F", "M")))
    table = pd.DataFrame({"sex": ["F", "M"] * 5})
    with pytest.raises(ValueError, match="'bare' has no sensitive attribute"):
        users(Dataset("bare", table, Schema("bare", (sex,)), {"sex": flat(sex)}), [Suppress()])


# Adversaries


def test_a_set_beside_the_main_one_has_its_prefix_and_no_row_is_there_twice(attacked):
    assert not attacked.duplicated(KEY_COLUMNS).any()
    singles = {name for names in (MAIN, SIDE) for name in names.split(", ")}
    beside = {"fusion: vote", "fusion: stacked", "control: ZeroR", "control: permuted", "control: held-out"}
    together = {"worst", "average", "worst by person"} | beside
    assert set(attacked.miner) == singles | together | {f"{SIDE} {name}" for name in together}
    found = seeds(attacked)
    assert all(found[name] == [1, 2] for name in together | {"majority", "naive Bayes"})
    assert all(found[name] == [1] for name in found if name.startswith(SIDE) or name == "decision stump")


def test_a_miner_of_two_sets_is_the_same_in_both(adult):
    """So that one of its two rows may go."""
    for sanitizer in SANITIZERS:
        rows = [anti_utility(adult, sanitizer, miners=names, min_count=2) for names in (MAIN, SIDE)]
        shared = [r[r.miner.isin(["naive Bayes", "linear regression"])].reset_index(drop=True) for r in rows]
        assert len(shared[0]) == 5
        pd.testing.assert_frame_equal(*shared)


def test_averages_and_the_worst_are_over_the_members_alone(attacked):
    checked = 0
    counts = attacked[attacked.measure.str.startswith("anti_utility")]
    for (_, _, measure, seed), part in counts.groupby(["sanitizer", "parameters", "measure", "seed"]):
        part = part.set_index("miner").value
        for prefix, names in {"": MAIN, f"{SIDE} ": SIDE}.items():
            members = part.reindex(names.split(", ")).dropna()
            if prefix and seed == 2:
                continue
            told = part[f"{prefix}average"]
            if not np.isnan(told):
                assert told == pytest.approx(members.mean()), measure
                assert part[f"{prefix}worst"] == members.max()
                checked += 1
    assert checked > 10
    assert attacked.miner.str.contains("|".join(BESIDE)).any()


def test_who_is_hit_bears_the_name_of_the_set(attacked):
    shares = attacked[attacked.measure == "nearer_share"]
    assert set(shares.miner) == {"worst", f"{SIDE} worst"}
    assert shares.target.str.match("(age|sex|race) ").all()


def test_miners_and_seeds_override_the_main_set_alone(adult, small):
    results = adversaries(adult, [KMember(10)], profile=small, miners="decision stump, majority", seeds=3)
    found = seeds(results)
    assert found["majority"] == found["worst"] == found["fusion: vote"] == [1, 2, 3]
    assert found["naive Bayes"] == found[f"{SIDE} worst"] == [1]
    assert "linear regression" not in found, "of labels it guesses none"
    assert not results.duplicated(KEY_COLUMNS).any()


def test_two_sets_of_equal_miners(adult, small):
    results = adversaries(adult, [KMember(10)], profile=small, miners=SIDE, seeds=1)
    assert not results.duplicated(KEY_COLUMNS).any()
    wide = results[results.measure == "anti_utility_A"].set_index("miner")[["value", "low", "high", "baseline"]]
    for name in ("worst", "average", "fusion: stacked", "control: permuted", "control: held-out"):
        assert wide.loc[name].equals(wide.loc[f"{SIDE} {name}"].rename(name))


def test_a_single_miner_as_main_set(adult, small):
    results = adversaries(adult, [KMember(10)], profile=small, miners="naive Bayes", seeds=1)
    alone = results[~results.miner.str.startswith(SIDE) & (results.measure == "anti_utility_A")]
    own = alone[~alone.miner.str.startswith(("fusion", "control"))]
    assert set(own.miner) == {"naive Bayes", "average", "worst", "worst by person", "decision stump"}


def test_a_miner_that_failed_is_in_no_average(adult, small, monkeypatch, tmp_path):
    real = nearer_predictions.predict_in_sample

    def failing(release, target, names, *, rng):
        found = real(release, target, names, rng=rng)
        guesses = {name: guess for name, guess in found.guesses.items() if name != "majority" or names == "majority"}
        return found._replace(guesses=guesses, failed={"majority": "unfinished"} if names != "majority" else {})

    monkeypatch.setattr(nearer_predictions, "predict_in_sample", failing)
    monkeypatch.setitem(profiles.PROFILES, "small", Profile({}, {"majority, naive Bayes, decision stump": 1}, {}))
    store = tmp_path / "store"  # what miners made to fail have guessed is nobody else's
    results = adversaries(adult, [KMember(10)], profile="small", min_count=2, store=store)
    failed = results[results.status == "unfinished"]
    assert failed.miner.tolist() == ["majority"]
    assert failed.value.isna().all()
    assert "majority" not in set(results[results.measure == "anti_utility_A"].miner)
    assert set(results[results.measure == "anti_utility"].miner) == {"majority"}, "a reason has no average and no worst"


def test_the_owner_names_scenarios_weights_and_the_least_count(adult, small):
    results = adversaries(
        adult,
        [LaplaceNoise(0.5)],
        profile=small,
        c=50,
        share=0.5,
        weights="sex == 'Female': 2, 1",
        min_count=20,
        seeds=1,
    )
    alone = anti_utility(
        adult, LaplaceNoise(0.5), miners=MAIN, c=50, share=0.5, weights="sex == 'Female': 2, 1", min_count=20
    )
    for miner in ("majority", "control: permuted"):
        pair = [rows[rows.miner == miner].reset_index(drop=True) for rows in (results, alone)]
        pd.testing.assert_frame_equal(*pair)
    assert "anti_utility_W_weighted" in set(results[results.miner == "worst"].measure)


# Gains


def test_gains_by_set_and_seed(adult, small):
    results = gains(adult, [KMember(3), KMember(10)], profile=small)
    assert not results.duplicated(KEY_COLUMNS).any()
    assert seeds(results.assign(miner=results.miner_set)) == {"": [1, 2], SIDE: [1]}
    main = gains_with_predictions(adult, KMember(10), miners="majority", seed=2)
    found = results[(results.parameters == "k=10") & (results.seed == 2)].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, main)
    assert (results.measure == "accuracy_gain").sum() == 4, "the releases' own gains are no set's"


# What is kept


def test_it_goes_on_where_it_stopped(adult, tmp_path):
    """Real workers; the second time only what is missing is computed, to the last digit."""

    def again():
        return adversaries(adult, SANITIZERS, miners=MAIN, seeds=2, store=tmp_path / "store")

    def kept():
        return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").glob("*.result")}

    first, files = again(), kept()
    assert len(files) == 4
    lost = sorted(files)[0]
    (tmp_path / "store" / lost).unlink()
    pd.testing.assert_frame_equal(again(), first)
    after = kept()
    assert set(after) == set(files)
    assert {name for name in files if after[name] != files[name]} == {lost}


def test_a_task_of_two_experiments_is_computed_once(adult, small, tmp_path):
    store = tmp_path / "store"
    adversaries(adult, [KMember(10)], profile=small, seeds=1, store=store)
    files = len(list(store.glob("*.result")))
    more = adversaries(adult, [KMember(10), Identity()], profile=small, seeds=2, store=store)
    # Beside what is there: Identity by both sets, and the second seed of the main set for both sanitizers.
    assert len(list(store.glob("*.result"))) == files + 2 + 2
    assert more[more.sanitizer == "Identity"].query("measure != 'nearer_share'").value.eq(0).all()


# Weka


@pytest.fixture
def with_weka(monkeypatch, java):
    """Two quick miners of each of the paper's sets, and one that 3.6.14 lacks."""
    monkeypatch.setitem(weka.SETS, "basic", ("rules.ZeroR", "bayes.NaiveBayes"))
    monkeypatch.setitem(weka.SETS, "categorical", ("rules.ZeroR", "bayes.NaiveBayes", "misc.OLM"))
    monkeypatch.setitem(weka.SETS, "numerical", ("rules.ZeroR", "functions.LinearRegression"))
    sets = {"majority": 1, "Weka": 1}
    monkeypatch.setitem(profiles.PROFILES, "small", Profile(sets, sets, sets))
    return f"Weka {weka.version()}"


def test_wekas_miners_stand_beside_ours(with_weka, tmp_path):
    adult = load("adult", records=150)
    used = users(adult, [KMember(5)], profile="small", store=tmp_path)
    ours = {"majority", "worst"}
    assert set(used.miner) == ours | {f"{with_weka} {name}" for name in ("rules.ZeroR", "bayes.NaiveBayes", "worst")}
    zero = used[used.miner == f"{with_weka} rules.ZeroR"]
    assert zero.value.tolist() == used[used.miner == "majority"].value.tolist(), "both name the most common value"

    attacked = adversaries(adult, SANITIZERS, profile="small", store=tmp_path)
    assert not attacked.duplicated(KEY_COLUMNS).any()
    counts = attacked[(attacked.measure == "anti_utility_A") & ~attacked.miner.str.startswith(BESIDE)]
    names = {part.sanitizer.iloc[0]: set(part.miner) for _, part in counts.groupby("sanitizer")}
    both = {"majority", "average", "worst"} | {f"{with_weka} {name}" for name in ("rules.ZeroR", "worst", "average")}
    assert names["KMember"] == both | {f"{with_weka} bayes.NaiveBayes"}
    assert names["LaplaceNoise"] == both | {f"{with_weka} functions.LinearRegression"}
    absent = attacked[attacked.status == "unavailable"]
    assert absent[["sanitizer", "miner"]].to_numpy().tolist() == [["KMember", f"{with_weka} misc.OLM"]]
    noisy = counts[counts.sanitizer == "LaplaceNoise"].set_index("miner")
    noisy = noisy.value.fillna(noisy.low)  # it comes nearer for all but so few that the count is withheld
    assert noisy["majority"] > 10
    assert noisy[f"{with_weka} rules.ZeroR"] == noisy["majority"], "both name the mean"

    files = len(list(tmp_path.glob("*.result")))
    gained = gains(adult, [KMember(10)], profile="small", store=tmp_path)
    assert set(gained.miner_set) == {"", with_weka}
    again = len(list(tmp_path.glob("*.result")))
    assert again == files + 2, "what the adversaries did was not done again"


def test_without_weka_the_others_run(adult, small, monkeypatch):
    monkeypatch.setattr(weka, "list_missing_requirements", lambda: "there is no Java")
    monkeypatch.setitem(profiles.PROFILES, "small", Profile({}, {}, {"majority": 1, "Weka": 1}))
    gained = gains(adult, [KMember(10)], profile="small")
    assert set(gained.miner) == {""}
    assert "Weka is not available" in profiles.describe_weka(gained).data
    there = gained.assign(miner="Weka 3.6.14 trees.J48")
    assert profiles.describe_weka(there).data.endswith("those of Weka 3.6.14; the others are those of scikit-learn.")


def test_the_worst_of_many_is_found_among_withheld_counts():
    told = [
        ("anti_utility_A", "one", 0.0, 0.0), ("anti_utility_A", "two", np.nan, 1.0),
        ("anti_utility_A_distinct", "one", 12.0, 8.0), ("anti_utility_A_distinct", "two", np.nan, 1.0),
        ("anti_utility_B", "three", 99.0, 90.0), ("anti_utility_A", "four", np.nan, np.nan),
    ]  # fmt: skip
    rows = frame([("KMember", "k=2", measure, miner, "age", *pair, np.nan, np.nan) for measure, miner, *pair in told])
    rows["status"] = rows.status.mask(rows.miner == "four", "unfinished")
    assert users_and_adversaries._find_worst_miners(rows) == "two, one"
    assert users_and_adversaries._find_worst_miners(rows[rows.miner == "four"]) == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"c": 150}, "`c` must be a percentage"),
        ({"share": 0}, "share must be a share above 0"),
        ({"weights": "age > 30"}, "interest weights must be written"),
        ({"weights": "agee > 30: 10"}, "'agee > 30' cannot be read as a condition"),
        ({"weights": "age > 200: 10, 0"}, "one for each person and not all 0"),
    ],
)
def test_what_the_owner_states_is_checked_before_anything_runs(adult, monkeypatch, wrong, message):
    monkeypatch.setattr(users_and_adversaries, "run_evaluations", lambda *_: pytest.fail("it ran"))
    with pytest.raises(ValueError, match=message):
        adversaries(adult, [KMember(10)], **wrong)


def test_what_the_adversary_guesses_is_said_and_where_the_sensitive_attribute_stands(adult):
    said = users_and_adversaries.describe_target(adult).data
    assert said.startswith("The adversary guesses age, the first numeric quasi-identifier.")
    assert "The notebook 09_explore reports how often the sensitive attribute, salary, is guessed correctly." in said
    assert users_and_adversaries.describe_target(adult, "race").data.startswith("The adversary guesses race. ")
    assert "09_explore" not in users_and_adversaries.describe_target(adult, "salary").data, "it is what is guessed"
    with pytest.raises(ValueError, match="zip"):
        users_and_adversaries.describe_target(adult, "zip")
