"""The encoding of a text file: UTF-8 and UTF-16 are certain, another one is proposed, and refused where two fit."""

import json

import pytest

from privnb.cli import main
from privnb.datasets.dataset import load
from privnb.datasets.draft import draft
from privnb.microdata.schema import SchemaError
from privnb.publishing.from_files import sanitize
from privnb.tables.reading import read_undescribed
from privnb.tables.text_files import guess_layout

TOWNS = {
    "cp932": ["東京", "大阪市", "横浜", "さくら", "ヨシダ"],
    "shift_jis": ["東京", "大阪市", "横浜", "さくら", "ヨシダ"],
    "big5": ["臺北市", "高雄", "臺中", "王小明", "陳美麗"],
    "gb18030": ["北京市", "陈美丽", "上海", "广州", "王小明", "李娜"],
    "cp1251": ["Москва", "Казань", "Санкт-Петербург", "Сёмин"],
    "iso8859_2": ["Łódź", "Plzeň", "Český Krumlov", "Gdańsk", "Świątek"],
    "cp1250": ["Łódź", "Plzeň", "Český Krumlov", "Gdańsk", "Świątek"],
    "cp1252": ["Köln", "Gießen", "Düsseldorf"],
}


def text(towns):
    return "age,town\n" + "".join(f"{20 + n % 50},{towns[n % len(towns)]}\n" for n in range(60 * len(towns)))


@pytest.fixture
def write(tmp_path):
    def made(towns, encoding):
        path = tmp_path / "people.csv"
        path.write_bytes(text(towns).encode(encoding))
        return path

    return made


@pytest.mark.parametrize("encoding", TOWNS)
def test_a_likely_encoding_is_proposed_and_read(write, encoding):
    table, layout, _ = read_undescribed(write(TOWNS[encoding], encoding))
    assert layout.encoding == {"shift_jis": "cp932"}.get(encoding, encoding), "cp932 is Shift-JIS and more"
    assert layout.is_proposed
    assert layout.others == ()
    assert {*table["town"]} == {*TOWNS[encoding]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_utf_is_certain(write, encoding):
    layout = guess_layout(write(TOWNS["big5"], encoding))
    assert (layout.encoding, layout.is_proposed, layout.others) == (encoding.removesuffix("-sig"), False, ())


SPANISH = ["España", "León", "Cádiz", "Logroño"]  # ñ is ń in cp1250


def test_a_release_is_refused_until_the_encoding_is_stated_where_two_fit(write, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, out = write(SPANISH, "cp1252"), tmp_path / "out.csv"
    assert guess_layout(path).others == ("cp1250", "iso8859_2")
    with pytest.raises(SchemaError, match=r"may be cp1252 or cp1250 or iso8859_2.*State the correct"):
        sanitize(path, "k=5", out)
    assert not out.exists()
    made = sanitize(path, "k=5", out, encoding="cp1252")
    assert "encoding" not in made.provenance
    assert (
        main(["sanitize", str(path), "--model", "k=5", "--out", str(tmp_path / "b.csv"), "--encoding", "cp1250"]) == 0
    )
    assert "encoding" not in json.loads((tmp_path / "b.csv.provenance.json").read_text())
    with pytest.raises(SchemaError, match="is not text in ascii"):
        sanitize(path, "k=5", tmp_path / "c.csv", encoding="ascii")
    with pytest.raises(ValueError, match=r"`encoding` must be a text encoding that Python knows.*'klingon'"):
        sanitize(path, "k=5", tmp_path / "c.csv", encoding="klingon")


def test_provenance_records_a_proposal(write, tmp_path):
    made = sanitize(write(TOWNS["cp932"], "cp932"), "k=5", tmp_path / "out.csv")
    assert made.provenance["encoding"] == "cp932, proposed"
    assert any("was read as cp932, which is a proposal" in sentence for sentence in made.sentences)


def test_a_draft_shows_a_proposal_and_is_not_loaded_while_another_one_fits(write, tmp_path):
    path = draft(write(SPANISH, "cp1252"), folder=tmp_path / "data")
    whole = path.read_text(encoding="utf-8")
    assert 'encoding = "cp1252" # PROPOSAL: cp1250 and iso8859_2 fit as well.' in whole
    path.write_text(whole.replace("draft = true\n", ""), encoding="utf-8")
    with pytest.raises(SchemaError, match="the encoding 'cp1252' is a proposal"):
        load(path)
    with pytest.raises(SchemaError, match="the encoding 'cp1252' is a proposal"):
        sanitize(path, "k=5", tmp_path / "out.csv")
    stated = draft(tmp_path / "people.csv", "stated", folder=tmp_path / "data", encoding="cp1252")
    stated_text = stated.read_text(encoding="utf-8")
    assert 'encoding = "cp1252"\n' in stated_text
    stated.write_text(stated_text.replace("draft = true\n", ""), encoding="utf-8")
    assert {*load(stated).table["town"]} == {*SPANISH}


def test_a_draft_says_that_a_likely_encoding_is_a_guess(write, tmp_path):
    path = draft(write(TOWNS["cp1251"], "cp1251"), folder=tmp_path / "data")
    assert 'encoding = "cp1251" # a guess: check letters' in path.read_text(encoding="utf-8")


def test_two_encodings_in_one_file_are_refused_in_any_alphabet(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("age,town\n1,Казань\n2,Москва\n".encode() + "3,Омск\n4,Тула\n".encode("cp1251"))
    with pytest.raises(SchemaError, match="seems to mix two encodings"):
        guess_layout(path)
