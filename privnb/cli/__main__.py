"""`python -m privnb.cli` is the command, too."""

from privnb.runtime.stopping import interrupts_noted

if __name__ == "__main__":
    with interrupts_noted():
        from privnb import cli

        raise SystemExit(cli.run_and_trace())
