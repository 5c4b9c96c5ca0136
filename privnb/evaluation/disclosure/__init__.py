"""Questions about what a release lets an adversary conclude."""
