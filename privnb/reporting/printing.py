"""A finished report as one PDF: its pages one after the other, printed by a browser that is on this machine."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from privnb.runtime.errors import ResourceError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
NAME = "report.pdf"
SECONDS = 120


def browser() -> str:
    """The path of a browser that prints.

    Raises
    ------
    ResourceError
        If there is none.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise ResourceError(
            "a PDF is printed by Chromium or Chrome, and neither is on this machine. Install one, or leave --pdf out "
            "and print index.html from any browser."
        )
    return found


def pdf(report: str | Path) -> Path:
    """Print the pages of a report, in the order in which its index links to them; the ledger stays a page.

    Parameters
    ----------
    report : str or Path
        The folder with `index.html`.

    Returns
    -------
    Path
        Of `report.pdf` in that folder, open to the same readers as the index.

    Raises
    ------
    ResourceError
        If there is no browser, or if it prints nothing.
    """
    report, printer = Path(report), browser()
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, NAME)
        source.write_text(joined(report), encoding="utf-8")
        command = [printer, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/own"]
        command += ["--no-sandbox"] * (hasattr(os, "geteuid") and os.geteuid() == 0)  # it has none as root
        try:
            command += [f"--print-to-pdf={target}", source.as_uri()]
            said = subprocess.run(command, capture_output=True, timeout=SECONDS).stderr
        except subprocess.TimeoutExpired:
            said = f"no end after {SECONDS} s".encode()
        if not target.exists():
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise ResourceError(f"{printer} printed no PDF: {''.join(last)}. The report itself is at {report}.")
        target.chmod((report / "index.html").stat().st_mode)
        return Path(shutil.move(target, report / NAME))


def joined(report: Path) -> str:
    """The pages of a report as one page: links between them lead inside it, all others lead nowhere."""
    read = {path.name: path.read_text(encoding="utf-8") for path in report.glob("*.html")}
    linked = dict.fromkeys(re.findall(r'href="([^"#]+\.html)', read["index.html"]))
    names = ["index.html", *(name for name in linked if name in read and name not in ("index.html", "ledger.html"))]
    parts = [f'<div class="sheet" id="{name}">{_main(read[name])}</div>' for name in names]
    head, _, _ = read["index.html"].partition("<body>")

    def inside(link: re.Match[str]) -> str:
        page, _, place = link[1].partition("#")
        if page and page not in names:
            return ""
        return f'href="#{place or page}"'

    body = re.sub(r'href="([^"]*)"', inside, "".join(parts))
    return f"{head}<body>{body}</body></html>"


def _main(page: str) -> str:
    """What a page says, without its scripts."""
    main = page[page.index("<main") : page.rindex("</main>") + len("</main>")]
    return re.sub(r"<script\b.*?</script>", "", main, flags=re.DOTALL)
