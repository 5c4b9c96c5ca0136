"""Attacks, each with its variants in a file: an adversary who has the release and knows something of people in it."""

from privnb.runtime.family import lazily

# The files of the classes that are variants of one another; every other class is in the file of its name.
HOMES = {
    "Attack": "base",
    **dict.fromkeys(("DistributionAnalysis", "EmpiricalMap"), "by_distribution"),
    **dict.fromkeys(("GaussianMap", "PcaRemoval", "SpectralFiltering", "SvdFiltering"), "by_covariance"),
    **dict.fromkeys(("EnhancedIca", "SampleIca"), "ica"),
    **dict.fromkeys(("KnownProjection", "KnownRegression", "KnownRotation"), "known_pairs"),
}
__getattr__, __dir__ = lazily(__name__, "Attack", **HOMES)
