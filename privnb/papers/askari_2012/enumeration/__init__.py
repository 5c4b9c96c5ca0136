"""k-anonymity as an exact channel, by listing every small table, to check the formulas of Askari et al. 2012."""
