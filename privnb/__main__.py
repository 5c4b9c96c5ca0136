"""The entry point of the command `privnb`, which handles Ctrl-C before it loads anything that takes time."""

from privnb.runtime.stopping import note_interrupts


def main() -> int:
    """Run the command; return the exit status."""
    with note_interrupts():
        from privnb import cli

        return cli.run_and_trace()


if __name__ == "__main__":
    raise SystemExit(main())
