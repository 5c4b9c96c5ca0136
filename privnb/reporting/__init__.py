"""What people read: findings and charts of results, notebooks run, pages made."""

# What the kernels of a report begin with.
LIBRARIES = ("privnb.evaluation._preloaded", "privnb.reporting.report")
