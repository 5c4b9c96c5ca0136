"""The roles of an owner's table without an editor: what is shown, asked, said and written."""

import os
import shutil
import tomllib
from pathlib import Path
from random import Random

import pandas as pd
import pytest

from privnb.cli import main
from privnb.datasets import description
from privnb.datasets.alerts import find_determined
from privnb.datasets.dataset import load
from privnb.datasets.description_editor import DescriptionEditor, find_or_draft
from privnb.datasets.draft import draft, draft_table
from privnb.datasets.roles import HELD
from privnb.microdata.schema import Role, SchemaError

CITIES = {"10115": "Berlin", "10117": "Berlin", "20095": "Hamburg", "80331": "Munich"}


def text(records=200):
    """Names and one pay in two are a person's; a zip tells its city, and `land` says the same as `city`."""
    random, lines = Random(3), ["name,pay,zip,city,land,sex,age,note,same"]
    for place in range(records):
        zips = [*CITIES][int(4 * random.random())]
        cells = [
            f"Zelda Q{place:03}", 30000 + 137 * place, zips, CITIES[zips], CITIES[zips][:1].lower(),
            "FM"[place % 2], 20 + int(50 * random.random()), "seen" if place % 5 == 0 else "", "yes",
        ]  # fmt: skip
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(text())
    return DescriptionEditor.open(str(draft("people.csv")))


def ready(table):
    return table.roles.sensitive("pay").person("")


def test_what_is_shown_is_no_persons(table):
    seen = {each.name: each for each in table.seen(table.roles)}
    assert [(each.kind, each.different, each.missing) for each in map(seen.get, ("name", "age", "city", "note"))] == [
        ("text", 200, 0), ("numbers", 49, 0), ("categories", 3, 0), ("categories", 1, 160),
    ]  # fmt: skip
    assert seen["name"].examples == "Aaaaa A999"
    assert set(seen["city"].examples.split(", ")) == {"Berlin", "Hamburg", "Munich"}
    assert seen["age"].examples == "10 to 70"
    assert seen["name"].reason == "200 values in 200 records, so it nearly identifies a person"
    for each in seen.values():
        assert "Zelda" not in str(each), "a name, as an example"


def test_an_example_is_shared_by_ten_people_not_by_ten_records_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"p{i // 12:02}", "FM"[i % 2], "rare" if i < 12 else "common") for i in range(240)]
    Path("visits.csv").write_text("patient,sex,ill\n" + "".join(",".join(row) + "\n" for row in rows))
    table = DescriptionEditor.open(str(draft("visits.csv")))
    for roles, shown in ((table.roles.person(""), "common, rare"), (table.roles.person("patient"), "common")):
        (ill,) = (each for each in table.seen(roles) if each.name == "ill")
        assert ill.examples == shown


def test_a_value_that_few_share_is_a_pattern_and_a_rare_pattern_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["Ö-x 1", "Aa", "b@c.de", "(12) 3", "ZZ", "z", "9.9", "A1b2C3", "--"]
    rows = [f"{'north' if i % 4 == 3 else f'Village{i:03}'},{words[i] if i < len(words) else ''}\n" for i in range(40)]
    Path("places.csv").write_text("town,odd\n" + "".join(rows))
    seen = DescriptionEditor.open(str(draft("places.csv"))).seen(DescriptionEditor.open("places").roles)
    assert [each.examples for each in seen] == ["Aaaaaaa999, aaaaa", ""], "the town is taken for a name: masked whole"


@pytest.mark.slow
def test_alerts_are_of_what_a_release_may_hold(table):
    roles, guess = table.roles, text().count("Berlin") / 200
    found = {each.name: each.alerts for each in table.seen(roles)}
    assert found == {
        "name": [], "pay": [], "sex": [], "age": [], "city": [],
        "zip": [
            f"determines '{other}': 100% of records, {guess:.0%} by guessing" for other in ("city", "land")
        ],
        "land": ["has the same content as 'city': 100% of records. Give one of them the role unused"],
        "note": ["many missing: 80% of records"],
        "same": ["constant: all records have the same value"],
    }  # fmt: skip
    found = {each.name: each.alerts for each in table.seen(roles.having({"land": Role.UNUSED, "pay": Role.NEUTRAL}))}
    assert found["land"] == []
    assert len(found["zip"]) == 1
    assert found["pay"] == ["nearly unique: 200 values in 200 records"], "published exactly"


def test_second_names_none_and_words_among_numbers_are_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 12},{'many' if i % 4 == 3 else i % 30},{'abcdefghijklmno'[i % 15]},{i % 9}\n" for i in range(240)]
    Path("twice.csv").write_text("n,n,letter,\n" + "".join(rows))
    table = DescriptionEditor.open(str(draft("twice.csv")))
    found = {each.name: each.alerts for each in table.seen(table.roles)}
    assert found.pop("n (2)") == [
        "another column 'n' of the file. If its first line is a record, add a line of names above it",
        "mixed: 60 of 240 values are not numbers. If they mean a missing value, draft the table again with "
        "--missing 'n (2): many': numbers are published in ranges, and texts are not",
    ]
    assert found.pop("column 4") == [
        "has no name in the file, so this is its position. Name it in the file unless it is a row number"
    ]
    assert not any(
        "mixed" in alert or "another" in alert or "no name" in alert for alerts in found.values() for alert in alerts
    )


@pytest.mark.slow
def test_one_column_determines_another_as_counted_record_by_record():
    """A value that one record has tells nothing; a fault in a hundred is not one in fifty."""
    random = Random(5)
    for faults, unique in ((2, 0), (9, 0), (0, 150), (0, 3)):
        one = [f"u{i}" if i < unique else "abcdef"[int(6 * random.random())] for i in range(400)]
        other = ["xyz"[("abcdef".find(each[0]) + 1) % 3] for each in one]
        for place in range(faults):
            other[390 + place] = "w"
        expected = 0
        for place, value in enumerate(one):
            beside = pd.Series([o for i, o in enumerate(other) if i != place and one[i] == value]).value_counts()
            expected += (
                len(beside) > 0
                and beside.index[0] == other[place]
                and (len(beside) < 2 or beside.iloc[0] > beside.iloc[1])
            )
        found = find_determined(pd.DataFrame({"one": pd.Categorical(one), "other": pd.Categorical(other)}))
        shares = {(first, second): share for first, second, share, _ in found}
        assert shares.get(("one", "other"), 0) == pytest.approx(expected / 400 if expected / 400 >= 0.99 else 0)


@pytest.mark.slow
def test_a_copy_of_a_sensitive_number_in_other_units_is_alerted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random, lines = Random(7), ["grams,ounces,left,weeks,sex"]
    for place in range(300):
        grams = round(random.gauss(3400, 450))
        ounces = round(grams / 28.35)
        noisy = f"{random.gauss(39, 2) + (grams - 3400) / 300:.0f}"
        lines.append(f"{grams},{ounces if place % 20 else ''},{9000 - grams},{noisy},{'fm'[place % 2]}")
    Path("births.csv").write_text("\n".join(lines) + "\n")
    table = DescriptionEditor.open(str(draft("births.csv")))

    def told(roles):
        return {
            each.name: [alert for alert in each.alerts if "which is sensitive" in alert] for each in table.seen(roles)
        }

    roles = table.roles.having({"grams": Role.QUASI_IDENTIFIER})
    assert not any(told(roles).values())
    found = told(roles.sensitive("grams"))
    assert [name for name, alerts in found.items() if alerts] == ["ounces", "left"]
    assert found["ounces"][0].startswith("has the order of 'grams'")
    assert found["left"][0].startswith("has the opposite order of 'grams'")
    assert not any(told(roles.having(dict.fromkeys(["grams", "ounces", "left"], Role.SENSITIVE))).values())
    assert not told(roles.sensitive("grams").having({"ounces": Role.UNUSED}))["ounces"]


@pytest.mark.slow
def test_nothing_is_sensitive_until_it_is_said_and_each_choice_is_said_at_once(table):
    roles = table.roles
    assert [sentence.split(":")[0].split("?")[0] for sentence in roles.lacks] == [
        "No column is sensitive yet", "Is each row one person",
    ]  # fmt: skip
    assert (
        roles.publishes
        == "In a release, of 9 columns: 8 generalized: pay, zip, city, land, sex, age, note, same; 1 dropped: name."
    )
    roles = roles.sensitive("zip").sensitive("pay")  # arrow keys pass by zip
    assert roles.names(Role.SENSITIVE) == ["pay"]
    assert roles.chosen["zip"] is Role.QUASI_IDENTIFIER
    assert len(roles.lacks) == 1
    assert roles.person("").lacks == []
    assert roles.person("name").having({"pay": Role.NEUTRAL}).lacks[0].startswith("No column is sensitive")
    assert roles.sensitive("").person("").lacks == [], "that none is may be said"
    assert roles.person("").having({"name": Role.PERSON, "age": Role.PERSON}).lacks == [
        "Only one column can be the key of people, and name, age have this role. If only both together identify a "
        "person, join them into one column in the file, such as 12-3, and draft the table again."
    ]
    nobody = roles.person("").having(dict.fromkeys(roles.names(Role.QUASI_IDENTIFIER), Role.UNUSED))
    assert nobody.lacks[0].startswith("No column is a quasi-identifier")
    assert "1 sensitive, in bands if numbers: pay; 8 dropped" in nobody.publishes


@pytest.mark.slow
def test_only_lines_of_roles_and_the_draft_line_change(table):
    before = table.path.read_text().replace('description = ""', 'description = "mine"  # own words')
    before = (
        before.replace("low = 10, high = 70, cuts = 5", "low = 10, high = 70, cuts = [30, 65]") + "\n# my last words\n"
    )
    assert "cuts = [30, 65]" in before
    table.path.write_text(before)
    table = DescriptionEditor.open(str(table.path))
    saved, why = table.save(ready(table).having({"zip": Role.NEUTRAL}))
    assert why == []
    assert not saved.is_draft
    after = table.path.read_text()
    changed = [
        (old, new)
        for old, new in zip(before.replace("draft = true\n", "").splitlines(), after.splitlines(), strict=True)
        if old != new
    ]
    assert [new.split(" #")[0] for _, new in changed] == ['role = "sensitive"', 'role = "neutral"']
    assert [old.split(" #")[1:] for old, _ in changed] == [new.split(" #")[1:] for _, new in changed]
    schema = load("people").schema
    assert {each.name: each.role for each in schema.attributes} == {
        name: role for name, role in saved.roles.chosen.items() if role is not Role.UNUSED
    }


@pytest.mark.slow
def test_what_is_missing_leaves_a_draft_with_its_roles(table):
    saved, why = table.save(table.roles.having({"pay": Role.SENSITIVE}))
    assert [sentence.split("?")[0] for sentence in why] == ["Is each row one person"]
    assert saved.is_draft
    assert DescriptionEditor.open("people").roles.chosen["pay"] is Role.SENSITIVE
    saved, why = saved.save(saved.roles.person(""))
    assert why == []
    with pytest.raises(SchemaError, match=r"^Nothing is written\. No column is sensitive yet"):
        saved.save(saved.roles.having({"pay": Role.UNUSED}))
    assert load("people").schema.sensitive == ["pay"]


@pytest.mark.slow
def test_a_column_without_a_domain_gets_a_proposed_one(table):
    saved, why = table.save(ready(table).having({"name": Role.QUASI_IDENTIFIER}))
    assert why == []
    assert "name" in description.find_proposals(table.path.read_text())
    assert len(load("people").schema["name"].domain.values) == 200
    assert saved.seen(saved.roles)[0].examples == "Aaaaa A999"


@pytest.mark.slow
def test_what_somebody_else_wrote_meanwhile_stays(table):
    table.path.write_text(table.path.read_text() + "# hers\n")
    before = table.path.read_bytes()
    with pytest.raises(SchemaError, match=r"people\.toml was changed elsewhere since it was read here"):
        table.save(ready(table))
    assert table.path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[columns.sex]\nrole", "columns.sex.role", None),
        ("[columns.sex]", "[columns.sex", "not valid TOML"),
        ('role = "quasi-identifier" # 2 values', 'role = "quasi-identifier"\nrole = "neutral"', "not valid TOML"),
        ('role = "quasi-identifier" # 2 values', 'role = "nonsense"', "one of identifier"),
        ("[columns.sex]", "[columns.gender]", "differ in columns: gender, sex"),
        ("\ndraft = true", '\ndraft = "perhaps"', "true or false"),
        ("[columns.name]", "[studies.one]\nneutral = []\n[columns.name]", "has studies"),
    ],
)
def test_a_description_edited_into_nonsense_is_refused_with_a_sentence(table, old, new, said):
    whole = table.path.read_text()
    assert old in whole
    table.path.write_text(whole.replace(old, new, 1))
    before = table.path.read_bytes()
    with pytest.raises((SchemaError, ValueError), match=said):
        DescriptionEditor.open("people")
    assert table.path.read_bytes() == before


@pytest.mark.slow
def test_a_role_is_changed_however_it_is_written(table):
    for old, new in (
        ('[columns.sex]\nrole = "quasi-identifier"', "[columns.sex]\nrole = '''quasi-identifier'''"),
        ('[columns.sex]\nrole = "quasi-identifier"', '[columns.sex]\n"role" = "quasi-identifier"'),
        ('description = ""', 'description = """\n[columns.sex]\nrole = "unused"\n"""'),
    ):
        whole = table.path.read_text()
        table.path.write_text(whole.replace(old, new))
        edited = DescriptionEditor.open("people")
        saved, _ = edited.save(ready(edited).having({"sex": Role.NEUTRAL}))
        before, after = tomllib.loads(edited.text), tomllib.loads(saved.text)
        assert after["columns"]["sex"].pop("role") == "neutral"
        assert before["columns"]["sex"].pop("role") == "quasi-identifier"
        assert after["columns"]["sex"] == before["columns"]["sex"]
        assert after["dataset"] == before["dataset"]
        table.path.write_text(whole)


@pytest.mark.slow
def test_what_does_not_load_stays_a_draft(table):
    table.path.write_text(table.path.read_text().replace('"Berlin", ', ""))
    edited = DescriptionEditor.open("people")
    saved, why = edited.save(ready(edited))
    assert [*map(len, (why, why[0].split("outside its public domain")))] == [1, 2]
    assert saved.is_draft
    assert saved.roles.chosen["pay"] is Role.SENSITIVE
    table.path.write_text(table.text)
    good, _ = table.save(ready(table))
    Path("data/people/people.csv").write_text("other")
    with pytest.raises(SchemaError, match=r"is not the described file"):
        good.save(good.roles.having({"sex": Role.NEUTRAL}))
    assert good.path.read_bytes() == good.text.encode()


def test_what_cannot_be_written_is_as_it_was(table, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    before = sorted(Path("data").rglob("*"))
    said = r"people\.toml cannot be written: Permission denied\. It is unchanged\."
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", refuse)
        with pytest.raises(OSError, match=said):
            table.save(ready(table))
    assert sorted(Path("data").rglob("*")) == before
    assert table.path.read_bytes() == table.text.encode()


@pytest.mark.slow
def test_the_same_table_is_opened_again_and_another_one_refused(table):
    assert find_or_draft("people.csv").resolve() == table.path == find_or_draft("", "people")
    Path("people.csv").write_text(text(150))
    with pytest.raises(ValueError, match=r"describes a different table from people\.csv, or .* Give another name"):
        find_or_draft("people.csv")
    assert find_or_draft("people.csv", "others") == Path("data/others/others.toml")
    with pytest.raises(ValueError, match="Give a FILE to describe, or the NAME"):
        find_or_draft("")


@pytest.mark.parametrize(("times", "key", "said"), [(6, "", True), (1, "", False), (6, "person", False)])
def test_copies_of_each_record_are_said(tmp_path, monkeypatch, capsys, times, key, said):
    monkeypatch.chdir(tmp_path)
    rows = [f"{n % 50},{'fm'[n % 2]},{n * 7 % 31},{n}" for n in range(150)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["age,sex,stay,case", *rows * times]))
    assert (
        main(["describe", str(file), *(["--roles", f"case: {key}"] if key else ["--roles", "case: identifier"])]) == 0
    )
    assert (f"{150 * times} records, 150 of them distinct" in capsys.readouterr().out) is said


def test_one_word_in_several_ways_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    towns = ["Köln", "KÖLN", "Ulm", "Ulm ", "Bonn"]
    Path("people.csv").write_text("town,age\n" + "".join(f"{towns[n % 5]},{n % 50}\n" for n in range(200)))
    table = DescriptionEditor.open(str(draft("people.csv")))
    (said,) = [alert for alert in table.seen(table.roles)[0].alerts if "written in several ways" in alert]
    assert "of its own: 'Köln' and 'KÖLN'; 'Ulm' and 'Ulm '. If" in said


def test_one_word_that_few_have_in_several_ways_is_counted_and_not_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = ["nurse"] * 60 + ["clerk"] * 60 + ["Farrier"] * 3 + ["farrier "] * 20 + ["smith", "Smith"]
    Path("people.csv").write_text("job,age\n" + "".join(f"{job},{n % 50}\n" for n, job in enumerate(jobs)))
    table = DescriptionEditor.open(str(draft("people.csv")))
    said = " ".join(table.seen(table.roles)[0].alerts)
    assert "of its own: 2 values that few records have. If" in said
    assert "arrier" not in said
    assert "mith" not in said


@pytest.mark.slow
def test_a_corrected_file_takes_over_the_roles_of_its_description(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{20 + n % 50},{'mf'[n % 2]},{n % 5 if n % 9 else 97},0{n % 6 + 1}/0{n % 9 + 1}/2019" for n in range(90)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["age,sex,trust,visit", *rows]))
    given = ["--missing", "trust: 97", "--sensitive", "trust", "--roles", "sex: neutral", "--days", "visit: mm/dd/yyyy"]
    assert main(["describe", str(file), *given, "--confirm"]) == 0
    again = ["describe", str(file), "--again"]
    towns = [f"{row},{'AB'[place % 2]}" for place, row in enumerate(rows[4:])]
    file.write_text("\n".join(["age,sex,trust,visit,town", *towns]))
    with pytest.raises(ValueError, match=r"an earlier version.* `privnb describe FILE --again`"):
        find_or_draft(str(file))
    assert main(again) == 0
    assert "New columns: town. Choose their roles." in capsys.readouterr().out
    table = DescriptionEditor.open("people")
    assert table.is_draft
    assert len(table.cells) == 86
    assert table.roles.names(Role.SENSITIVE) == ["trust"]
    assert table.roles.names(Role.NEUTRAL) == ["sex"]
    assert table.roles.days == {"visit": "%m/%d/%Y"}
    assert tomllib.loads(table.text)["columns"]["trust"]["missing"] == ["97"]
    before = {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}
    assert main(again) == 2
    assert "people-before exists already" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()}

    assert len(DescriptionEditor.open("people-before").cells) == 90, "the former one can be looked at where it is"
    shutil.rmtree(tmp_path / "data" / "people-before")
    assert main(["describe", "people", "--confirm"]) == 0
    file.write_text("\n".join(["age,sex,trust,visit,town", *(f"{row},A" for row in rows)]))
    assert main([*again, "--missing", "age: 1"]) == 2  # no cell is: all is as it was
    assert "no cell of 'age' is '1'" in capsys.readouterr().err
    assert not (tmp_path / "data" / "people-before").exists()
    assert main(again) == 0
    assert not DescriptionEditor.open("people").is_draft
    assert len(load("people")) == 90
    assert main(["describe", str(file), "--name", "nobody", "--again"]) == 4  # nothing to take over


@pytest.mark.slow
def test_a_draft_hands_on_the_records_that_it_read(table, tmp_path):
    """With the names of the description, and as its own copy of the file is read again."""
    Path("odd.csv").write_text("a/b;c\n1,5;x\n;NA\n2,5;y\n")
    path, read = draft_table("odd.csv")
    again = DescriptionEditor.open(str(path)).cells
    assert [*read] == ["a b", "c"]
    pd.testing.assert_frame_equal(read.astype(object), again.astype(object))


def test_every_role_has_its_place_in_the_sentence_on_a_release():
    assert sorted(role for roles in HELD.values() for role in roles) == sorted(Role)


@pytest.mark.slow
def test_the_mode_of_the_description_stays(table):
    table.path.chmod(0o660)
    table.save(ready(table))
    assert table.path.stat().st_mode & 0o777 == 0o660


def test_lines_end_as_they_did_and_keys_may_be_in_quotes():
    old = "draft = true # till then\r\n[columns.'a b']\r\nrole = 'unused'\r\n"
    old += '[columns."c"] # own\r\n  role="neutral"\r\n'
    new = description.edit(old, {"a b": Role.NEUTRAL, "c": Role.SENSITIVE}, {"a b": "unit = 'm'"}, confirmed=True)
    assert new == (
        '[columns.\'a b\']\r\nrole = "neutral"\r\nunit = \'m\'\n[columns."c"] # own\r\n  role="sensitive"\r\n'
    )
    assert tomllib.loads(new)["columns"]["c"] == {"role": "sensitive"}


@pytest.mark.slow
def test_weights_are_offered_by_name_and_what_people_weigh_is_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = Random(4)
    rows = [
        f"{draw.uniform(0.2, 2):.3f},{draw.uniform(500, 9000):.0f},{draw.uniform(50, 120):.1f},{draw.randrange(9)},"
        f"{draw.uniform(300, 900):.1f},{draw.uniform(90, 250):.0f}\n"
        for _ in range(200)
    ]
    Path("survey.csv").write_text("pspwght,finalwgt,weight,growth,weights,weight_lb\n" + "".join(rows))
    table = DescriptionEditor.open(str(draft("survey.csv")))
    said = {each.name for each in table.seen(table.roles) if any("sampling weights" in alert for alert in each.alerts)}
    assert said == {"pspwght", "finalwgt", "weights"}


SURVEY = [
    f"{i % 5 + 1 if i % 7 else 97 + i % 3},{1000 + i % 90 * 100 if i % 9 else 999999},{i % 60 + 20}\n"
    for i in range(360)
]


@pytest.mark.slow
def test_codes_that_stand_apart_are_said_and_are_no_numbers_once_they_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("trust,income,age\n" + "".join(SURVEY))
    table = DescriptionEditor.open(str(draft("survey.csv")))
    found = {each.name: each.alerts for each in table.seen(table.roles)}
    assert [alert for alert in found["trust"] if "97, 98 and 99 are far from" in alert and "'trust: 97|98|99'" in alert]
    assert [alert for alert in found["income"] if "999999 is far from" in alert]
    assert found["age"] == []
    path = draft("survey.csv", "again", missing={"trust": ["97", "98", "99"], "income": ["999999"]})
    table = DescriptionEditor.open(str(path))
    assert not any(each.alerts for each in table.seen(table.roles))
    table.save(table.roles.person("").sensitive(""))
    read = load(path)
    assert (read.schema["trust"].domain.low, read.schema["trust"].domain.high) == (1, 5)
    assert read.schema["income"].domain.high < 99_999
    assert read.table["trust"].isna().sum() == sum(i % 7 == 0 for i in range(360))
    assert read.table["income"].isna().sum() == sum(i % 9 == 0 for i in range(360))
    asked = {"*": ["97", "98", "999999"], "tr*": ["99"]}  # a person's 97 years: of all columns that have it
    marked = {
        name: entry.get("missing", [])
        for name, entry in tomllib.loads(draft("survey.csv", "all", missing=asked).read_text())["columns"].items()
    }
    assert marked == {"trust": ["97", "98", "99"], "income": ["999999"], "age": []}


@pytest.mark.parametrize(
    ("numbers", "codes"),
    [
        ([*range(90, 1100), -1, -2, -9], "-9, -2 and -1 are"),
        ([*range(90, 1100), 99999], "99999 is"),
        ([*range(10, 40), -1, 98], "-1 and 98 are"),
        ([*range(-40, 1100), -99], ""),
        ([*range(40, 98), 98, 99], ""),
    ],
)
def test_codes_are_those_that_no_number_is_near(tmp_path, monkeypatch, numbers, codes):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("\n".join(["income,sex", *(f"{number},f" for number in numbers)]))
    table = DescriptionEditor.open(str(draft("people.csv")))
    said = [alert for alert in table.seen(table.roles)[0].alerts if "far from all other values" in alert]
    assert [each.partition(" far from")[0] for each in said] == [codes] * bool(codes)


def test_each_column_may_have_a_mark_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{i % 28 + 1:02}.{i % 12 + 1:02}.2001,{i % 9 if i % 6 else '-'}\n" if i % 8 else "k.A.,3\n" for i in range(240)
    ]
    Path("marks.csv").write_text("born,absent\n" + "".join(rows))
    path = draft("marks.csv")
    described = tomllib.loads(path.read_text(encoding="utf-8"))
    assert described["format"]["missing"] in ("k.A.", "-")
    assert [*described["columns"]["born"].get("missing", []), *described["columns"]["absent"].get("missing", [])] == [
        {"k.A.": "-", "-": "k.A."}[described["format"]["missing"]]
    ]
    assert "days" in path.read_text(encoding="utf-8")
    table = DescriptionEditor.open(str(path))
    table.save(table.roles.person("").sensitive(""))
    assert load(path).table["absent"].isna().sum() == sum(i % 6 == 0 and i % 8 != 0 for i in range(240))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("trust: 55", "no cell of 'trust' is '55'"),
        ("tru*: 55", "no cell of 'tru*' is '55'"),
        ("x*: 97", "there is no column 'x*'"),
        ("trusts: 97", "there is no column 'trusts'. Did you mean 'trust'?"),
        ("97", "'97' must list texts that mark a missing value"),
        ("trust: 97, trust: 98", "'trust' is repeated. Write the column once: 'trust: 97|98'"),
        ("trust: 97||98", "must list texts that mark a missing value"),
    ],
)
def test_what_cannot_mean_missing_is_refused_and_writes_nothing(tmp_path, monkeypatch, capsys, given, said):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("trust,income,age\n" + "".join(SURVEY))
    assert main(["describe", "survey.csv", "--missing", given]) != 0
    assert said in capsys.readouterr().err
    assert not Path("data").exists()
