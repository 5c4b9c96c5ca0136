"""Sanitizers, one a file, in families: each turns a Dataset into a Release of as many rows."""

from privnb.runtime.family import lazily

__getattr__, __dir__ = lazily(__name__, "Sanitizer", Sanitizer="base", SanitizationError="errors")
