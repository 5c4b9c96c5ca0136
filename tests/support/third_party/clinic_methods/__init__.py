"""Methods of a clinic."""

from pathlib import Path

POLICY = Path(__file__).with_name("clinic.toml")
