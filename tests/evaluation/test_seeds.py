"""What draws are derived from is frozen: no class or parameter that gets another name moves a published number."""

import pytest

from privnb import privacy_models as models, sanitizers as family
from privnb.evaluation.predictions import stream

MODELS = [
    models.KAnonymity(2), models.AlphaKAnonymity(0.5, 2, "job"), models.PSensitiveKAnonymity(2, 3, "job"),
    models.DistinctDiversity(2, "job"), models.EntropyDiversity(2, "job"), models.RecursiveDiversity(2, 2, "job"),
    models.FrequencyDiversity(2, "job"), models.ConfidenceBound(0.5, "job", "cook"), models.TCloseness(0.3, "job"),
    models.JensenShannonCloseness(0.3, "job"), models.DeltaDisclosure(1.5, "job"), models.BasicBetaLikeness(2, "job"),
    models.EnhancedBetaLikeness(2, "job"),
]  # fmt: skip
MADE = [
    family.Identity(), family.Suppress(), family.Suppress("sensitive"), family.Suppress("age, job"),
    family.LaplaceNoise(0.5), family.LaplaceNoise(1.0, {"age": 99}), family.GeometricNoise(0.5),
    family.RandomizedResponse(0.5), family.KMember(2), family.KMember(3, start=1), family.KMember(2, start=None),
    family.KMember(2, models=(MODELS[3],)), family.Anatomy(2, "job"), family.Bucketize(family.KMember(3)),
    family.Mondrian(MODELS[0], split_attribute="gain", split_point="best", workload="ward"),
    family.LocalRecoding(MODELS[0]),
    family.TopDownSpecialization(MODELS[0], workload="job"), family.FullDomain(MODELS[0], suppress=0.5),
    family.FullDomain(MODELS[0], suppress=20, loss="classification metric", target="ward"),
    *map(family.Mondrian, MODELS),
    family.GammaDiagonal(1.0), family.Mask(1.0), family.Pram(), family.RetentionReplacement(),
    family.AdditiveNoise(), family.DataSwapping(), family.RareCategories(), family.LocalSuppression(3),
    family.Sampling(), family.Rotation(), family.RandomProjection(), family.GeometricPerturbation(),
    family.ResilientPerturbation(), family.Microaggregation(3), family.UnivariateMicroaggregation(3),
    family.Condensation(3), family.MaskingNoise(), family.LognormalNoise(), family.RankSwapping(),
    family.Resampling(), family.Rounding(), family.TopBottomCoding(), family.HybridMasking(), family.Ipso(),
    family.LatinHypercube(), family.MultipleImputation(),
]  # fmt: skip
FROZEN = [
    3118114915, 774972712, 698757002, 1366704481, 3438803079, 358077972, 389937469, 2315949720, 2853934173, 250769627,
    2578331683, 1288163721, 619844542, 2966220042, 1006005150, 3136715078, 4260062392, 1393825439, 402863101,
    3541400515, 4014058523, 1295624799, 1786130818, 1857788214, 3190170358, 1410204278, 2387890853, 1360012292,
    151242874, 2322696414, 2746369607, 4009719899,
    2554890806, 2768695889, 2324049815, 1719059772, 39592463, 959865732, 2503602986, 2168108073, 1776534034,
    4235732022, 999439451, 2583846254, 3769241060, 4027056615, 971538777, 2678031122, 4210069589, 2899156234,
    1064191049, 1074995949, 1897233426, 1890387337, 657345669, 2097483378, 2462797928, 2506727829,
]  # fmt: skip


@pytest.mark.parametrize(("sanitizer", "number"), list(zip(MADE, FROZEN, strict=True)), ids=repr)
def test_a_seed_stays_what_it_was(sanitizer, number):
    assert stream(1, sanitizer, "sanitize") == [1, number]


def test_a_key_is_what_a_sanitizer_was_once_written_as():
    by_gain = family.Mondrian(MODELS[0], split_attribute="gain", split_point="best", workload="ward")
    once = "Mondrian(KAnonymity(k=2), choose='gain', median='best', workload='ward')"
    assert by_gain.key == once
    assert family.Bucketize(by_gain).key == f"Bucketize(partition={once})"
    assert family.Bucketize(family.Suppress("age")).key == "Bucketize(partition=Suppress(what='age'))"


def test_what_concerns_all_sanitizers_has_a_seed_of_its_own():
    assert stream(1, None, "scenario C") == [1, 3962989760]


def test_every_kind_is_here():
    assert {type(each).__name__ for each in MADE} == set(family.__all__) - {
        "Sanitizer",
        "SanitizationError",
        "sanitize",
    }
    named = {type(each).__name__ for each in MODELS} | {"KMap", "DeltaPresence"}  # their populations have no short text
    assert named == {name for name in models.__all__ if name[0].isupper()} - {"PrivacyModel"}
