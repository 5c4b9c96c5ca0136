"""Sanitizers, each with its variants in a file, in families: each turns a Dataset into a Release of as many rows."""

from privnb.runtime.family import lazily

# The files of the classes that are variants of one another; every other class is in the file of its name.
HOMES = {
    "Sanitizer": "base",
    "SanitizationError": "errors",
    **dict.fromkeys(("Rotation", "RandomProjection", "GeometricPerturbation"), "multiplied"),
    **dict.fromkeys(("AdditiveNoise", "LaplaceNoise", "GeometricNoise"), "numeric_noise"),
    **dict.fromkeys(("GammaDiagonal", "Mask"), "frapp"),
    "RankSwapping": "data_swapping",
    "UnivariateMicroaggregation": "microaggregation",
    "Identity": "suppress",
    "Anatomy": "bucketize",
    "LognormalNoise": "masking_noise",
    "HybridMasking": "latin_hypercube",
    "TopBottomCoding": "rounding",
    "RetentionReplacement": "randomized_response",
}
__getattr__, __dir__ = lazily(__name__, "Sanitizer", **HOMES)
