"""How long the explorer takes from a key press to its numbers, measured inside a real browser on all of Adult.

    python tests/benchmarks/latency.py [FILE]     # default: reports/latency.csv

For each kind of key press 50 of them in JupyterLab, one after the other is answered: `busy` is when the page says that
it counts, `told` when panels 1 to 3 have the numbers of the new setting, `drawn` when the chart of panel 4 has them
too, all in milliseconds after the key press, as a person sees them: at the next frame that is drawn. A chart in which
nothing moves is not drawn anew. `bound` is what issue 7 promises of the numbers: for a sanitizer that it does not name
200 milliseconds more than the sanitizer takes by itself. Nothing is timed in the tests.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from privnb.explorer.setting import Setting, checked, sanitizer
from privnb.microdata.dataset import load

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import browsing  # noqa: E402

PRESSES = 50
# From the key press on, when the page first says that it counts, when it tells the numbers asked for, and draws them.
WATCH = """() => {
    const mark = () => document.querySelector(".privnb-status"), frame = () => new Promise(requestAnimationFrame);
    const drawings = () => Number(document.querySelector("[data-drawn]").dataset.drawn);
    window.pressed = null;
    addEventListener("keydown", event => {
        const from = mark().dataset.setting, chart = drawings(), start = event.timeStamp;
        window.pressed = (async () => {
            let busy = null, told = null;
            for (;;) {
                await frame();
                const now = performance.now() - start, { dataset } = document.querySelector(".privnb-state");
                const changed = mark().dataset.setting !== from;
                if (busy === null && (dataset.busy === "true" || changed)) busy = now;
                if (told === null && changed && dataset.busy === "false") told = now;
                if (told !== null && drawings() > chart) return { busy, told, drawn: now };
                if (now > (told === null ? 60_000 : told + 1_000)) return { busy, told, drawn: null };
            }
        })();
    }, { capture: true });
}"""
TOLD = """kind => JSON.parse(document.querySelector(".privnb-status").dataset.setting).sanitizer === kind"""
IDLE = """() => document.querySelector(".privnb-state")?.dataset.working === "false" """


def main(path):
    path.parent.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder, browsing.chromium() as browser:
        notebook = browsing.copy("09_explore", Path(folder) / "notebooks")
        with browsing.lab(Path(folder)) as lab, browsing.without_network(browser) as opened:
            page = opened.page
            page.goto(f"{lab['url']}lab/tree/{notebook.name}?token={lab['token']}&reset")
            browsing.run(page)
            page.wait_for_function(IDLE)
            page.locator("select[name=privacy]").select_option("identity_vulnerability")  # which all of them have
            page.evaluate(WATCH)
            rows = [row for kind in KINDS for row in measured(page, kind)]
    presses = pd.DataFrame(rows, columns=["press", "bound", "busy", "told", "drawn"])
    table = presses.groupby(["press", "bound"], sort=False).agg(["count", "median", "max"]).round().reset_index()
    table.columns = [" ".join(filter(None, names)) for names in table.columns]
    table.to_csv(path, index=False)
    print(
        table.to_string(index=False),
        f"\n{path}; {os.getloadavg()[1]:.1f} processes ran beside on {os.cpu_count()} cores",
    )


# What is pressed, the bound on its answer, the sanitizer, the control, how many steps it goes there and back.
KINDS = [
    ("k of Mondrian, from 10 on: new", 300, "Mondrian", "k", 6),
    ("k of Mondrian, from 10 on: again", 100, "Mondrian", "k", 6),
    ("epsilon of Laplace noise: new", 300, "LaplaceNoise", "epsilon", 4),
    ("seed of suppression: new", 300, "Suppress", "seed", 0),
    ("k of local recoding, from 10 on: new", None, "LocalRecoding", "k", 6),
    ("k of buckets, from 10 on: new", None, "Bucketize", "k", 6),
]


def alone(kind):
    """Milliseconds that a sanitizer takes by itself for k = 10, the median of five."""
    adult = load("adult")
    setting = checked(Setting(kind), adult)
    made, times = sanitizer(setting, adult), []
    for seed in range(6):
        began = time.perf_counter()
        made.sanitize(adult, rng=seed)
        times.append(time.perf_counter() - began)
    return 1000 * np.median(times[1:])


def measured(page, kind):
    """`(name, bound, busy, told, drawn)` of each key press. What is new has another seed each way."""
    name, bound, sanitizer_name, control, steps = kind
    page.locator("select[name=sanitizer]").select_option(sanitizer_name)
    page.wait_for_function(TOLD, arg=sanitizer_name)
    bound = bound or round(200 + alone(sanitizer_name))
    way = ["ArrowRight"] * steps + ["ArrowLeft"] * steps or ["ArrowUp"]
    if name.endswith("again"):
        for key in way:
            press(page, control, key)
    rows = []
    for place in range(-(-PRESSES // len(way)) * len(way)):  # whole ways, so that the next kind begins where this did
        if steps and name.endswith("new") and not place % steps:
            press(page, "seed", "ArrowUp")
        rows.append((name, bound, *press(page, control, way[place % len(way)])))
    return rows[:PRESSES]


def press(page, control, key):
    page.locator(f"[name={control}]").focus()
    page.wait_for_timeout(300)  # a person's pace; the miner of the setting before has begun
    page.keyboard.press(key)
    return page.evaluate("() => window.pressed").values()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "reports" / "latency.csv"))
