"""A table that obeys a schema, how its values generalize, how it is counted, and what was published of it."""

from privnb.microdata.dataset import Dataset, load, load_studies

__all__ = ["Dataset", "load", "load_studies"]
