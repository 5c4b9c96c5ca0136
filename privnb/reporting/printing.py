"""A complete report as one PDF, which consists of the pages in order and is printed by an installed browser."""

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
    """Return the path of an installed browser that can print.

    Raises
    ------
    ResourceError
        If no browser that can print is installed.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise ResourceError(
            "--pdf needs Chromium or Chrome, and neither is installed. Install Chromium or Chrome, or omit --pdf and "
            "print index.html from another browser."
        )
    return found


def pdf(report: str | Path) -> Path:
    """Print the pages of a report, except the ledger, in the order of the links in the index.

    Parameters
    ----------
    report : str or Path
        The folder with `index.html`.

    Returns
    -------
    Path
        The path of `report.pdf` in the folder of the report. The file has the same permissions as the index.

    Raises
    ------
    ResourceError
        If no browser that can print is installed, or if the browser does not write a file.
    """
    report, printer = Path(report), browser()
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, NAME)
        source.write_text(join_pages(report), encoding="utf-8")
        command = [printer, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/own"]
        command += ["--no-sandbox"] * (hasattr(os, "geteuid") and os.geteuid() == 0)  # Chromium has no sandbox as root
        try:
            command += [f"--print-to-pdf={target}", source.as_uri()]
            said = subprocess.run(command, capture_output=True, timeout=SECONDS).stderr
        except subprocess.TimeoutExpired:
            said = f"it did not end within {SECONDS} s".encode()
        if not target.exists():
            last = said.decode(errors="replace").strip().splitlines()[-1:]
            raise ResourceError(
                f"{printer} did not print a PDF: {''.join(last)}. Print {report / 'index.html'} from another browser."
            )
        target.chmod((report / "index.html").stat().st_mode)
        return Path(shutil.move(target, report / NAME))


def join_pages(report: Path) -> str:
    """Return the pages of a report as one page.

    Links between the pages become links inside this page, and all other links are removed.
    """
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
    """Return the main content of a page without scripts."""
    main = page[page.index("<main") : page.rindex("</main>") + len("</main>")]
    return re.sub(r"<script\b.*?</script>", "", main, flags=re.DOTALL)
