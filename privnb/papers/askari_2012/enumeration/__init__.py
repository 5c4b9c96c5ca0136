"""k-anonymity as a channel, by listing every small table: exact, and the measure of Askari et al. 2012's formulas."""
