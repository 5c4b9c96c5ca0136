"""The report: findings about and charts of results, the execution of notebooks, and the HTML pages."""

# The modules that the kernels of a report load first.
LIBRARIES = ("privnb.evaluation._preloaded", "privnb.reporting.report")
