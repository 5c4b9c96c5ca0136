"""k-anonymity as an exact channel over a list of all small tables, to check the formulas of Askari et al. 2012."""
