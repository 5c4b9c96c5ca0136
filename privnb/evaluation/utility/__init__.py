"""Questions about the utility that a release keeps for its users."""
