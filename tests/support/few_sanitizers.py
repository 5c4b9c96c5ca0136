"""A few sanitizers in the place of all, for tests of a page or a table: a family of all takes much of the time of such
a test, and shows the same. The contracts of the sanitizers, and the reports of the clinic and of Adult, have all.
"""

from privnb.sanitizers import catalogue

# Of each folder of `privnb/sanitizers`, and of each treatment, one; of generalization, which most pages are about, two.
# The references are in every family.
NAMES = {
    "Mondrian", "LocalRecoding", "Anatomy", "LocalSuppression", "Sampling", "Microaggregation", "LaplaceNoise",
    "RandomizedResponse", "Rotation", "LatinHypercube",
}  # fmt: skip


def narrow(patch):
    """Let every list of the sanitizers that fit a table have these alone, by `patch(module, name, value)`."""
    fits = catalogue.fits

    def narrowed(kind, **needs):
        return (kind.reference or kind.__name__ in NAMES) and fits(kind, **needs)

    patch(catalogue, "fits", narrowed)
