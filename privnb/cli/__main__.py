"""The entry of `python -m privnb.cli`."""

from privnb.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
