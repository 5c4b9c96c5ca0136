"""How long the explorer takes from a key press to its numbers, and from the request of its page to the first ones,
measured inside a real browser on all of Adult.

    python tests/benchmarks/latency.py [FILE]     # default: reports/latency.csv

For each kind of key press 50 of them in JupyterLab, one after the other is answered: `busy` is when the page says that
it counts, `told` when panels 1 to 3 have the numbers of the new setting, `drawn` when the chart of panel 4 has them
too, all in milliseconds after the key press, as a person sees them: at the next frame that is drawn. A chart in which
nothing moves is not drawn anew. `processor` is the time that the kernel spends on one press, in the same unit: it
tells what the code costs where other work on the machine makes a person wait. `aim`: of `drawn`, median and worst.
`start` is the page of `privnb explore` five times, from its request to its first numbers. No test times anything.

`u` is the wall clock of a fixed piece of work on the same machine, before and after the presses: a scikit-learn
decision tree fitted on Adult's one-hot table of study `sramka` (45,222 x 166, target salary). Aims and results are
ratios to the mean of both, so that machines of different speed can be compared. Run it on an idle machine.
"""

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support import browsing  # noqa: E402

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
                const asked = "asked" in dataset;
                const changed = mark().dataset.setting !== from;
                if (busy === null && (asked || dataset.busy === "true" || changed)) busy = now;
                if (told === null && changed && dataset.busy === "false") told = now;
                if (told !== null && drawings() > chart) return { busy, told, drawn: now };
                if (now > (told === null ? 60_000 : told + 1_000)) return { busy, told, drawn: null };
            }
        })();
    }, { capture: true });
}"""
TOLD = """kind => JSON.parse(document.querySelector(".privnb-status").dataset.setting).sanitizer === kind"""
FIRST = """() => document.querySelector(".privnb-status")?.dataset.accuracy_gain"""
IDLE = """() => document.querySelector(".privnb-state")?.dataset.working === "false" """


def main(path):
    path.parent.mkdir(exist_ok=True)
    before = unit()
    with TemporaryDirectory() as folder, browsing.chromium() as browser:
        notebook = browsing.copy("09_explore", Path(folder) / "notebooks")
        with browsing.lab(Path(folder)) as lab, browsing.without_network(browser) as opened:
            page = opened.page
            page.goto(f"{lab['url']}lab/tree/{notebook.name}?token={lab['token']}&reset")
            browsing.run(page)
            (kernel,) = browsing.processes(lab["pid"], "ipykernel")
            page.wait_for_function(IDLE)
            page.locator(".privnb-more summary").click()
            page.locator("select[name=privacy]").select_option("identity_vulnerability")  # which all of them have
            page.evaluate(WATCH)
            rows = [row for kind in KINDS for row in measured(page, kernel, kind)]
        rows += [("start", "10 u", None, told, None, None) for told in starts(Path(folder), browser)]
    presses = pd.DataFrame(rows, columns=["press", "aim", "busy", "told", "drawn", "processor"])
    table = presses.groupby(["press", "aim"], sort=False).agg(["count", "median", "max"]).round().reset_index()
    table.columns = [" ".join(filter(None, names)) for names in table.columns]
    u = (before + unit()) / 2
    for column in ("drawn median", "drawn max"):
        table[column.replace("drawn", "u")] = (table[column].fillna(table["told" + column[5:]]) / u).round(2)
    table.to_csv(path, index=False)
    print(
        table.to_string(index=False),
        f"\nu: {u:.0f} ms ({before:.0f} before); the columns `u` are ratios to it, as the aims are",
        f"\n{path}; {os.getloadavg()[1]:.1f} processes ran beside on {os.cpu_count()} cores",
    )


# What is pressed, its aim, the sanitizer, the control, how many steps it goes there and back.
KINDS = [
    ("k of Mondrian, from 10 on: new", "1 u / 2 u", "Mondrian", "k", 6),
    ("k of Mondrian, from 10 on: again", "0.5 u", "Mondrian", "k", 6),
    ("epsilon of Laplace noise: new", "1 u", "LaplaceNoise", "epsilon", 4),
    ("seed of suppression: new", "1 u", "Suppress", "seed", 0),
    ("k of local recoding, from 10 on: new", "4 u", "LocalRecoding", "k", 6),
    ("k of buckets, from 10 on: new", "1 u / 2 u", "Bucketize", "k", 6),
]


def unit():
    """Milliseconds in which a decision tree is fitted on Adult's one-hot table, the best of three."""
    from sklearn.tree import DecisionTreeClassifier

    from privnb.datasets.dataset import load

    table = load("adult", "sramka").table
    inputs, target = pd.get_dummies(table.drop(columns="salary").astype(str)).to_numpy(dtype=float), table.salary
    times = []
    for _ in range(3):
        began = time.perf_counter()
        DecisionTreeClassifier(random_state=0).fit(inputs, target)
        times.append(1000 * (time.perf_counter() - began))
    print(f"u: {inputs.shape[0]:,} x {inputs.shape[1]}", file=sys.stderr)
    return min(times)


def measured(page, kernel, kind):
    """`(name, aim, busy, told, drawn, processor)` of each key press. What is new has another seed each way."""
    name, aim, sanitizer_name, control, steps = kind
    page.locator("select[name=sanitizer]").select_option(sanitizer_name)
    page.wait_for_function(TOLD, arg=sanitizer_name)
    way = ["ArrowRight"] * steps + ["ArrowLeft"] * steps or ["ArrowUp"]
    if name.endswith("again"):
        for key in way:
            press(page, control, key)
    rows = []
    for place in range(-(-PRESSES // len(way)) * len(way)):  # whole ways, so that the next kind begins where this did
        if steps and name.endswith("new") and not place % steps:
            press(page, "seed", "ArrowUp")
        spent = processor(kernel)
        waited = press(page, control, way[place % len(way)])
        page.wait_for_timeout(50)  # of what follows the chart nothing is late
        rows.append((name, aim, *waited, processor(kernel) - spent))
    return rows[:PRESSES]


def processor(process):
    """Milliseconds of the processor that a process has had."""
    *_, fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")
    return sum(map(int, fields.split()[11:13])) * 1000 / os.sysconf("SC_CLK_TCK")


def starts(folder, browser):
    """Milliseconds from the request of the app's page to its first numbers, five times."""
    with browsing.app(folder, "adult") as app:
        for _ in range(5):
            with browsing.without_network(browser) as opened:
                began = time.perf_counter()
                opened.page.goto(app["url"], wait_until="commit")
                opened.page.wait_for_function(FIRST)
                yield 1000 * (time.perf_counter() - began)
                with opened.page.expect_event("close"):  # that ends its kernel
                    opened.page.close(run_before_unload=True)


def press(page, control, key):
    page.locator(f"[name={control}]").focus()
    page.wait_for_timeout(300)  # a person's pace; the miner of the setting before has begun
    page.keyboard.press(key)
    return page.evaluate("() => window.pressed").values()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "reports" / "latency.csv"))
