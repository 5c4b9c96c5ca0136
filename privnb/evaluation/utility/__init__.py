"""Questions about what a release keeps for its users."""
