"""The Census table of project CASC: what its source says of it, and what its roles are."""

from privnb.datasets.dataset import load, load_schema, load_studies


def test_it_is_the_table_of_its_source():
    """Brand, Domingo-Ferrer, Mateo-Sanz 2002: 1,080 records, 13 numbers without gaps; a person's income adds up."""
    census = load("census")
    assert (len(census), census.schema.quasi_identifiers) == (1080, list(census.table))
    assert len(census.table.columns) == 13
    assert (census.table > 0).all(axis=None)
    assert (census.table["PTOTVAL"] == census.table["PEARNVAL"] + census.table["POTHVAL"]).all()


def test_every_domain_holds_all_numbers_of_a_width():
    """They are stated, not read from the records: no record has the lowest or the highest number."""
    census = load("census")
    for attribute in census.schema.attributes:
        assert str(attribute.domain) in ("0 to 9999", "0 to 99999", "0 to 999999")
        assert census.table[attribute.name].between(attribute.domain.low + 1, attribute.domain.high - 1).all()


def test_its_studies():
    assert [study.name for study in load_studies("census")] == ["census/masking", "census/employer"]
    assert load_schema("census").sensitive == []
    assert load_schema("census", "employer").sensitive == ["INTVAL"]
