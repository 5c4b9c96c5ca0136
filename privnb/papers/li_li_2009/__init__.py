"""Li and Li, KDD 2009: the trade-off between privacy and utility."""
