"""The command `privnb`, which can also be run as `python -m privnb.cli`."""

from privnb.runtime.stopping import note_interrupts

if __name__ == "__main__":
    with note_interrupts():
        from privnb import cli

        raise SystemExit(cli.run_and_trace())
