import pytest
import vl_convert

from privnb.reporting import vega

SCRIPT = "window.drawn = vegaEmbed;"


@pytest.fixture
def made(monkeypatch, tmp_path):
    """The scripts of which bundles were made, only `SCRIPT`'s in truth; they are kept in a folder of the test's own."""
    scripts, real = [], vl_convert.javascript_bundle

    def bundled(script):
        scripts.append(script)
        return real(script) if script == SCRIPT else f"Vega, and {script}"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundled)
    monkeypatch.setattr(vega, "KEPT", tmp_path / "kept")
    return scripts


@pytest.mark.slow
def test_a_bundle_is_made_once_and_is_what_it_was(made, monkeypatch):
    first = vega.bundle(SCRIPT)
    assert "window.drawn" in first
    assert len(first) > 500_000
    assert vega.bundle(SCRIPT) == first
    assert made == [SCRIPT]
    assert vega.bundle("window.other = 1;") != first
    monkeypatch.setattr(vega.metadata, "version", lambda name: "another")
    vega.bundle("window.other = 1;")
    assert made == [SCRIPT, "window.other = 1;", "window.other = 1;"]
    assert {path.suffix for path in vega.KEPT.iterdir()} == {".js"}, "nothing half-written"


def test_where_it_cannot_be_kept_it_is_made(made, tmp_path):
    (tmp_path / "kept").touch()
    assert vega.bundle("window.other = 1;") == vega.bundle("window.other = 1;")
    assert len(made) == 2
