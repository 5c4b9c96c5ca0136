"""What a page lacks for readers with a keyboard or a screen reader."""

from bs4 import BeautifulSoup

SCOPES = {"row", "col", "rowgroup", "colgroup"}


def check(folder):
    """Check all pages of a folder."""
    pages = sorted(folder.glob("*.html"))
    assert pages
    assert [fault for path in pages for fault in faults(path.read_text(encoding="utf-8"), path.name)] == []


def faults(html, name=""):
    """Return the faults of a page as texts that begin with the name of the page."""
    page = BeautifulSoup(html, "html.parser")
    found = [*_frame(page), *_tables(page), *_charts(page), *_names(page)]
    return [f"{name}: {fault}" for fault in found]


def _frame(page):
    if not page.html.get("lang"):
        yield "the page states no language"
    first = page.body.find(["a", "button", "input", "summary"])
    if "skip" not in first.get("class", ()):
        yield "the first link does not lead to the content"
    elif page.find(id=first["href"].removeprefix("#")) is None:
        yield "the link to the content leads nowhere"
    if len(page.find_all("h1")) != 1:
        yield "the page has no heading, or several"


def _tables(page):
    for table in page.find_all("table"):
        if not (table.get("aria-label") or (table.caption and table.caption.get_text(strip=True))):
            yield f"a table has no name: {table.get_text(' ', strip=True)[:60]}"
        for heading in table.find_all("th"):
            if heading.get("scope") not in SCOPES:
                yield f"a heading has no scope: {heading.get_text(strip=True)}"


def _charts(page):
    for figure in page.find_all("figure"):
        image = figure.find(attrs={"role": "img"})
        if figure.find("img"):
            continue
        if image is None or not image.get("aria-label"):
            yield f"a drawing has no name: {figure.get_text(' ', strip=True)[:60]}"
        elif figure.find("script"):
            controls = figure.find_parent(class_="live")
            numbers = controls.find("a", href="#numbers") if controls else figure.find_next_sibling()
            if numbers is None or not (page.find(id="numbers") if controls else numbers.name == "details"):
                yield f"a chart has no table of its numbers: {image['aria-label'][:60]}"
            elif not controls and len(numbers.find_all("tr")) < 2:
                yield f"the table of a chart is empty: {image['aria-label'][:60]}"


def _names(page):
    texts = [each.get_text(" ", strip=True) for each in page.find_all("summary", string=None)]
    code = [text for text in texts if text.startswith("Show the code")]
    yield from (f"two buttons have the name {text!r}" for text in dict.fromkeys(code) if code.count(text) > 1)
    for region in page.find_all(attrs={"tabindex": "0"}):
        if not (region.get("role") and region.get("aria-label")):
            yield f"a place of the keyboard has no name: {region.get_text(' ', strip=True)[:60]}"
