"""HTML of the panels: what is published, what its user keeps, what an adversary gains, and what is taken along.

One module, since they are read side by side, as they stand on the board.
"""

import json
from dataclasses import asdict
from functools import lru_cache

import pandas as pd
from markupsafe import Markup

from privnb.evaluation.results import measured, of_one_miner
from privnb.explorer.controls import attribute, button, same, select, together
from privnb.explorer.figures import lead, note, number, numbers, table, trouble
from privnb.measures import facts

PANEL = Markup(
    '<section class="privnb-panel" aria-labelledby="privnb-{key}"{empty}><h3 id="privnb-{key}">{title}</h3>{content}'
    "</section>"
)
TAKEN = Markup(
    '<section class="privnb-panel privnb-take" aria-label="Export"><h3>Export</h3>'
    '<p class="privnb-note">Python that makes this release:</p><pre tabindex="0">{code}</pre>'
    '<p class="privnb-note">A report of the same numbers:</p><pre tabindex="0">{command}</pre>'
    '{terms}<div class="privnb-actions">{format}{save}<span role="status">{said}</span></div></section>'
)
CONTROLS = {
    "permuted": "what guesses at random reach",
    "held-out": "the same miner, of people it never saw",
}


def panel(key, title, *content):
    return PANEL.format(key=key, title=title, content=together(content), empty="")


def nothing(key, title, why):
    """A panel without numbers, which keeps the height that it had: what stands below it stays where it is."""
    return PANEL.format(key=key, title=title, content=why, empty=Markup(" data-empty"))


def published(reading):
    """What is published: levels reached beside those asked for, costs, class sizes, a dozen sanitized rows."""
    if reading.refused:
        return nothing("published", "What is published", trouble("Nothing is published.", reading.refused))
    parts = _parts(reading)
    return panel(
        "published",
        "What is published",
        lead(_says_published(reading)),
        _exact(*reading.exact),
        numbers(parts["levels"]) if parts["levels"] else note(reading.promise),
        numbers(parts["costs"]),
        _sizes(reading.sizes),
        _rows(reading.rows),
        note(reading.note),
    )


def kept(reading, mined, why, trouble_said):
    """What the user keeps: what a miner learns, and what counts tell of large groups.

    `mined`: results of the miner, or None while there are none; `why`: why this release is not mined; `trouble_said`:
    what went wrong.
    """
    if reading.refused:
        return nothing("kept", "What the user keeps", note("There is no release to use."))
    groups = numbers(_parts(reading)["utility"])
    return panel(
        "kept",
        "What the user keeps",
        lead("" if mined is None else _says_kept(mined, reading.setting.sanitizer)),
        _unmined(mined, why, trouble_said) or _of_sample(reading, mined) + _learned(mined),
        Markup("<h4>Large groups of people</h4>"),
        groups or note("This table has no large groups that can be asked for."),
    )


def gained(reading, mined, why, trouble_said):
    """What the adversary gains: by counts, by a miner, and who is hit most; arguments as of `kept`."""
    if reading.refused:
        return nothing("gained", "What the adversary gains", note("There is no release to attack."))
    return panel(
        "gained",
        "What the adversary gains",
        lead(_says_gained(reading.results)),
        numbers(_parts(reading)["privacy"]),
        note("A number without an interval is counted from everybody in the table, and exact for them."),
        # Of noise a gain is known by what a miner reaches.
        numbers(mined[mined.measure == "accuracy_gain"].itertuples()) if mined is not None else "",
        Markup("<h4>Predictions nearer to the truth than the release</h4>"),
        _unmined(mined, why, trouble_said) or _of_sample(reading, mined) + _nearer(mined),
    )


def marks(setting, reading, mined):
    """The setting and its numbers for machines, as attributes: `data-setting` in JSON, `data-<measure>`."""
    found = {"setting": json.dumps(asdict(setting))}
    for table_of in (reading and reading.results, mined):
        if table_of is not None:
            own = table_of[table_of.sanitizer == setting.sanitizer]
            for measure, value in zip(own.measure, own.value, strict=True):
                found.setdefault(measure, repr(value))
    return together(attribute(f"data-{name}", text) for name, text in found.items())


def taken(code, command, terms, formats, format, said):
    """What is taken along: the lines that make this release, the report's command, and the release itself, below the
    `saving.Terms` on which it is saved.
    """
    return TAKEN.format(
        code=code,
        command=command,
        format=select("format", "Format", same(formats), format),
        terms=together(map(note, [*terms.said, *filter(None, [terms.refused])])),
        save=button("save", "Save the release", terms.refused),
        said=said,
    )


def says_exact(known, others):
    """Which columns are as recorded, `known` of an adversary and `others`: a sentence or two; empty for none."""
    said = (
        [f"Published as recorded: {', '.join(known)}. By these, anybody can look for a person's row."] if known else []
    )
    also = "Also as recorded" if known else "Published as recorded"
    return " ".join(said + ([f"{also}: {', '.join(others)}."] if others else []))


def _exact(known, others):
    text = says_exact(known, others)
    return trouble("Not everything is hidden.", text) if known else note(text)


def _says_published(reading):
    found = reading.results[reading.results.measure == "k_achieved"].value
    if found.empty:
        return reading.each
    least = f"In every class at least {found.iloc[0]:,.0f} people are alike."
    return least if found.iloc[0] > 1 else "Somebody's quasi-identifiers single them out."


def _says_kept(mined, sanitizer):
    """What the miner loses against the original and gains over the trivial release, in people."""
    right = mined[mined.measure == "good_utility"].drop_duplicates("sanitizer").set_index("sanitizer").value
    if sanitizer not in right:
        return ""
    parts = [
        f"{abs(more):,.0f} people {'more' if more > 0 else 'fewer'} than from the {said}"
        if more
        else f"as many as from the {said}"
        for end, said in (("Identity", "original"), ("Suppress", "trivial release"))
        if end != sanitizer and pd.notna(more := right[sanitizer] - right[end])
    ]
    return f"The miner is right about {' and '.join(parts)}." if parts else ""


def _says_gained(results):
    gain = results[results.measure == "accuracy_gain"]
    if gain.empty:
        return "There are no classes to guess from; what a miner reaches is a lower bound."
    row, group = gain.iloc[0], "bucket" if "bucket_vulnerability" in set(results.measure) else "class"
    if pd.isna(row.value):
        return "The gains are withheld: they would tell of few people."
    more, chance = (f"{each:.1%} more" if round(each, 3) else "no more" for each in (row.value, row.baseline))
    return (
        f"Whoever knows people's {group} guesses the {row.target} of {more} of them; were the values permuted at "
        f"random, of {chance}."
    )


@lru_cache(maxsize=1)  # for the panels of one reading
def _parts(reading):
    """Rows by the panel that they stand in: levels reached, other numbers of the release, its utility, its privacy."""
    parts = {name: [] for name in ("levels", "costs", "utility", "privacy")}
    for row in reading.results.itertuples():
        of = facts(row.measure)
        # A number without a target is of the release as such.
        part = of.kind if row.target else "levels" if of.baseline == "asked" else "costs"
        parts.get(part, parts["costs"]).append(row)
    return parts


def _sizes(sizes):
    """Class sizes as a table with bars, which a screen reader reads and no theme hides."""
    if sizes is None:
        return Markup("")
    label, people = sizes.rows.columns[0], sizes.rows["people"]
    rows = [
        (name, f"{count:,}", Markup('<span class="privnb-bar" style="width:{:.1f}%"></span>').format(100 * share))
        for name, count, share in zip(sizes.rows[label], people, people / people.max(), strict=True)
    ]
    caption = f"People by the size of their {label.split()[-1]}"
    return Markup("<h4>{}</h4>").format(caption) + table([label, "people", ""], rows, caption, right=(0, 1))


def _rows(rows):
    if isinstance(rows, str):
        return note(rows)
    shown = table([*rows], rows.astype(str).itertuples(index=False), "A dozen sanitized rows")
    return Markup('<details data-key="rows" open><summary>{} sanitized rows</summary>{}</details>').format(
        len(rows), shown
    )


def _unmined(mined, why, trouble_said):
    """Why there is no number of a miner, or nothing if there is."""
    if why or mined is not None:
        return note(why)
    return trouble("The miner gave no number.", trouble_said) if trouble_said else note("The miner is at work …")


def _of_sample(reading, mined):
    """That a miner learned from a sample, see `record_by_record`, or nothing."""
    names = [*mined.dataset.head(1)]
    return note(
        "" if names == [*reading.results.dataset.head(1)] else f"Of a random sample, which is mined: {names[0]}."
    )


def _learned(mined):
    """What the miner learns from the release, between the original and the trivial release."""
    good = measured(mined[mined.measure == "good_utility"]).drop_duplicates("sanitizer")
    if good.empty:
        return note("The miner has no guess of this attribute.")
    titles = {"Identity": "from the original", "Suppress": "from the trivial release"}
    lines = [
        number(row, f"Guessed right {titles.get(row.sanitizer, 'from this release')}")
        for row in sorted(good.itertuples(), key=lambda row: (row.sanitizer == "Suppress", row.sanitizer != "Identity"))
    ]
    decline = mined[(mined.measure == "utility_decline") & ~mined.sanitizer.isin(titles)]
    lines += [number(row) for row in decline.itertuples()]
    first = good.iloc[0]
    return Markup("<h4>{} learns {}</h4>").format(first.miner, first.target) + Markup(
        '<ul class="privnb-numbers">{}</ul>'
    ).format(together(lines))


def _nearer(mined):
    """The anti-utility of the miner, beside its controls, and who is hit most."""
    bad = measured(mined[(mined.measure == "anti_utility") & (mined.variant != "distinct")])
    if bad.empty:
        return note("The miner has no guess of this attribute.")
    own = bad[of_one_miner(bad)]
    lines = [number(row, f"{row.miner} on {row.target}") for row in own.itertuples()]
    lines += [number(row, f"Control: {CONTROLS[row.control]}") for row in bad.itertuples() if row.control in CONTROLS]
    return Markup('<ul class="privnb-numbers">{}</ul>').format(together(lines)) + _hit(mined)


def _hit(mined):
    """The groups that are hit most, in a table."""
    groups = mined[(mined.measure == "nearer_share") & mined.value.gt(0)].sort_values("value", ascending=False)
    if groups.empty:
        return note("No group is hit of which that may be said.")
    rows = [
        (row.group, f"{row.value:.1%}", f"{row.low:.1%} to {row.high:.1%}", _share(row.baseline))
        for row in groups.head(5).itertuples()
    ]
    return Markup("<h4>Who is hit most: share of the group</h4>") + table(
        ["group", "hit", "95%", "without it"], rows, "Who is hit most", right=(1, 2, 3)
    )


def _share(share):
    return "withheld" if pd.isna(share) else f"{share:.1%}"
