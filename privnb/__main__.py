"""The entry of the command `privnb`: it notes Ctrl-C before it loads anything that takes time."""

from privnb.runtime.stopping import interrupts_noted


def main() -> int:
    """Run the command; returns the exit status."""
    with interrupts_noted():
        from privnb import cli

        return cli.run_and_trace()


if __name__ == "__main__":
    raise SystemExit(main())
