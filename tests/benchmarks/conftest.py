"""Nothing here is a test: pytest imports none of it."""

collect_ignore_glob = ["*.py"]
