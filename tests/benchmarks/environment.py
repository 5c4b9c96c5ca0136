"""The peers' own environments, pinned in peers.txt and anonymeter.txt; made anew where they do not fit."""

import subprocess
import sys
from pathlib import Path

from measure import Failed


def environment(folder, pinned="peers.txt"):
    """Make an environment of peers in `folder`, or bring it up to date. Returns its Python."""
    uv, python = Path(sys.executable).with_name("uv"), Path(folder) / "bin" / "python"
    if not python.exists():
        _run(uv, "venv", "--quiet", "--no-python-downloads", "--python", ">=3.11,<3.13", folder)
    _run(uv, "pip", "sync", "--quiet", "--python", python, Path(__file__).with_name(pinned))
    return python


def _run(*command):
    try:
        ran = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    except FileNotFoundError:
        raise Failed(f"there is no {command[0].name} beside this Python: `make bench` installs it") from None
    if ran.returncode:
        raise Failed(" ".join(ran.stderr.split())[:300])
