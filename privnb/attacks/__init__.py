"""Attacks, one a file: each plays an adversary who has the release and knows something of people in it."""

from privnb.runtime.family import lazily

__getattr__, __dir__ = lazily(__name__, "Attack", Attack="base")
