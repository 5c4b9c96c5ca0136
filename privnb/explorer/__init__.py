"""The explorer: what one setting publishes, keeps and gives away, live beside sliders."""

from privnb.explorer.board import asked, explore
from privnb.explorer.figures import listed
from privnb.explorer.numbers import counted, measured
from privnb.explorer.setting import Setting

__all__ = ["Setting", "asked", "counted", "explore", "listed", "measured"]
