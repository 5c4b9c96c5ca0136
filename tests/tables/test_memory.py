"""What is said of memory is divided between the engine and the combinations, and a table that needs more is refused."""

import pyarrow as pa
import pytest

from privnb.microdata.schema import SchemaError
from privnb.tables import long_tables
from privnb.tables.long_tables import TIMES, Memory


def test_sizes_of_memory():
    assert Memory.of("2GB").megabytes == Memory.of("2000 mb").megabytes == 2000
    assert Memory.of("1.5gb").engine("there") == {"memory_limit": "575MB", "temp_directory": "there"}


@pytest.mark.parametrize("said", ["2", "2TB", "-2GB", "499MB", "9" * 30 + "GB", "", None, 2])
def test_what_is_no_size_is_refused(said):
    with pytest.raises(
        ValueError, match="memory must be a size such as 2GB, at least 500MB and at most 1,000,000GB, got "
    ):
        Memory.of(said)


def test_what_does_not_fit_says_which_columns_have_most_values(monkeypatch):
    monkeypatch.setattr(long_tables, "COMBINATION", 50)
    given = Memory.of("500MB")
    found = pa.table({"sex": list("FMFM"), "age": list("1234"), TIMES: [1, 2, 3, 4]})
    assert given.combinations == 3
    given.check(found[:3], "")
    with pytest.raises(SchemaError, match=r"more than 3 .* 2 columns .*500MB.* age \(4\), sex \(2\)\. Say less\.$"):
        given.check(found, "Say less.")
