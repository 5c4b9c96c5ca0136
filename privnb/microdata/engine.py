"""The engine that touches every row: DuckDB, opened and closed per question, which asks for nothing from elsewhere."""


def queried(query, after=None, **given):
    """What the engine answers.

    Parameters
    ----------
    query : str
        In SQL.
    after : str, optional
        A second question, of what the first one left.
    **given
        The values of `$name` in the query.

    Returns
    -------
    tuple of pyarrow.Table and list of tuple
        The answer, and the rows of the second one.
    """
    import duckdb

    alone = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), "false")
    with duckdb.connect(config=alone) as engine:
        found = engine.sql(query, params=given).to_arrow_table()
        return found, engine.execute(after).fetchall() if after else []
