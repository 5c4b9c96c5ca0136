"""Numbers and dates in English, German and French, and the language as a context."""

import contextvars
from concurrent.futures import ThreadPoolExecutor

import pytest

from privnb.decision.reasons import CAP, Reason
from privnb.runtime.errors import UsageError
from privnb.runtime.language import LANGUAGES, current_language, in_language
from privnb.runtime.numerals import LOCALES, MINUS, NARROW, NO_BREAK, localize, localize_date, write_number
from privnb.runtime.sentences import strip_markup
from privnb.runtime.wording import filters, line

# English, German, French; _ is a no-break space and ' a narrow one.
NUMBERS = {
    "share": ("percent", (0.52514,), "53%", "53_%", "53_%"),
    "small share": ("percent", (0.0886,), "8.9%", "8,9_%", "8,9_%"),
    "tiny share": ("percent", (1 / 45222,), "1 in 45,000", "1 von 45.000", "1 sur 45'000"),
    "nearly everybody": ("percent", (0.99999,), "above 99.99%", "über 99,99_%", "plus de 99,99_%"),
    "negative": ("in_format", (-24770.4, "{:g}"), "−24,770", "−24.770", "−24'770"),
    "tiny": ("in_format", (3e-7, "{:g}"), "below 0.0001", "unter 0,0001", "moins de 0,0001"),
    "no unit": ("bare", (1234567, "{:,} people"), "1,234,567", "1.234.567", "1'234'567"),
    "whole": ("count", (1234.0,), "1,234", "1.234", "1'234"),
    "interval": (
        "number", ({"value": 0.0886, "low": 0.0841, "high": 0.0932}, "{:%} of people"),
        "8.9% of people (95% CI 8.4–9.3%)", "8,9_% der Personen (95-%-Konfidenzintervall 8,4–9,3_%)",
        "8,9_% des personnes (IC à 95_% 8,4–9,3_%)",
    ),
    "negative interval": (
        "number", ({"value": -0.026, "low": -0.032, "high": -0.021},), "−2.6% (95% CI −3.2% to −2.1%)",
        "−2,6_% (95-%-Konfidenzintervall −3,2_% bis −2,1_%)", "−2,6_% (IC à 95_% −3,2_% à −2,1_%)",
    ),
    "few": (
        "number", ({"value": None, "low": 1, "high": 9}, "{:,} people"), "fewer than 10 people",
        "weniger als 10 Personen", "moins de 10 personnes",
    ),
    "withheld": ("number", ({"value": None},), "withheld", "zurückgehalten", "masqué"),
    "upper bound": ("number", ({"value": None, "high": 0.2},), "at most 20%", "höchstens 20_%", "au plus 20_%"),
    "bounds": (
        "quantity", ({"value": None, "low": 0.01, "high": 0.09}, "{:%} of people"), "between 1% and 9% of people",
        "zwischen 1_% und 9_% der Personen", "entre 1_% et 9_% des personnes",
    ),
    "people": ("people", (0.0061, 45222), "276 people", "276 Personen", "276 personnes"),
    "few people": ("people", (1e-4, 45222), "fewer than 10 people", "weniger als 10 Personen", "moins de 10 personnes"),
    "all but few": (
        "people", (0.9999, 45222), "all but fewer than 10 people", "alle bis auf weniger als 10 Personen",
        "toutes sauf moins de 10 personnes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_written_in_the_manner_of_each_language(name):
    which, given, *texts = NUMBERS[name]
    for language, text in zip(("en", "de", "fr"), texts, strict=True):
        written = filters(language)[which](*given)
        assert written == text.replace("_", NO_BREAK).replace("'", NARROW)


def test_a_minus_is_the_true_minus_in_each_language():
    for language in LOCALES:
        assert localize(write_number("{:+%}", -0.5), language).startswith(f"{MINUS}50")


@pytest.mark.parametrize(("language", "text"), [("en", "2026-11-30"), ("de", "30.11.2026"), ("fr", "30/11/2026")])
def test_a_date_is_written_in_the_manner_of_each_language(language, text):
    assert localize_date("2026-11-30", language) == text
    assert localize_date("", language) == ""
    assert filters(language)["date"]("2026-11-30") == text


@pytest.mark.parametrize(
    ("language", "listed", "more"), [("en", "a, b and c", "and 1 more"), ("de", "a, b und c", "und 1 weitere")]
)
def test_lists_have_the_conjunction_of_the_language(language, listed, more):
    assert filters(language)["listed"](["a", "b", "c"]) == listed
    assert filters(language)["abbreviate"](["a", "b", "c", "d"]) == f"a, b, c {more}"


def test_names_are_not_localized():
    assert filters("de")["listed"](["of people", "1,234.5%"]) == "of people; 1,234.5%"
    assert strip_markup(filters("de")["in_english"]("k = 0.2 <b>")) == "k = 0.2 <b>"


def test_a_number_of_objects_has_the_german_plural():
    counted = filters("de")["counted"]
    assert (counted(1, "Zeile", "Zeilen"), counted(1234, "Zeile", "Zeilen")) == ("1 Zeile", "1.234 Zeilen")


def test_every_language_has_a_locale():
    assert {*LANGUAGES} <= {*LOCALES}


def test_the_language_ends_with_its_context_even_after_an_error():
    with pytest.raises(UsageError, match="stop"), in_language("de"):
        raise UsageError(f"stop in {current_language()}")
    assert current_language() == "en"


def test_an_unknown_language_is_refused():
    with pytest.raises(UsageError, match="language"), in_language("xx"):
        pass


def test_a_thread_starts_in_english_unless_it_gets_the_context():
    with in_language("de"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(contextvars.copy_context().run, current_language).result() == "de"
        assert contextvars.Context().run(current_language) == "en"


def test_a_reason_that_was_written_in_one_language_is_written_again_in_another():
    reason = Reason.of(CAP, risk="attribute", cap=0.05, is_surely_above=True, value=0.125, low=0.1, high=0.15)
    english = str(reason)
    with in_language("de"):
        german = str(reason)
    assert english == str(reason) == "its attribute risk is 12% (95% CI 10–15%), which exceeds the cap of 5%"
    assert german.replace(NO_BREAK, "_") == (
        "ihr Attributrisiko beträgt 12_% (95-%-Konfidenzintervall 10–15_%) und überschreitet die Obergrenze von 5_%"
    )


def test_a_template_without_a_translation_is_shown_in_english():
    english = line("decision/two_losses", "loss_of", 1234.5)
    with in_language("de"):
        assert line("decision/two_losses", "loss_of", 1234.5) == english == "1,234"
