"""What privnb and its peers take for the same work, and what they lose: `make bench`.

    make bench                                      # all that can be run here
    make bench WORKS='mondrian-* check-raw'         # some works; the others' rows stay
    make bench WORKS='file-* grade-*'               # from file to file at 1, 10 and 100 million records, and a billion
    make bench PEERS='anonypy pycanon'              # some peers; PEERS=none for privnb alone
    make bench SLOW=1                               # the Mondrian peers at k = 2 too (about 9 minutes), not quoted
    make bench HIERARCHIES=FOLDER                   # ARX's adult_hierarchy_<attribute>.csv, for the works within them

Writes `reports/bench.csv`, one row a system and work, each as soon as it is measured, and two charts beside it.

- `seconds`: CPU seconds, user + system, of the work alone; imports and the reading of the input stand apart. privnb:
  warm, the median of three runs; peers: one run. Where a system is named "with its start", the whole process, once.
- `wall`: seconds that pass. From file to file, `seconds` and `wall` are those of the whole process, its start included.
- `peak_mb`: largest resident memory of the process, interpreter and input included.
- `loss`: see `loss.penalty`, one measure for all; lower keeps more.
- `ratio_to_privnb`: how many times privnb's seconds; above 1 privnb is faster. Empty for tools that do other work.
- "(quoted)": from an earlier run elsewhere, in quoted.csv; the seconds of the whole process, but for "warm" ones. A
  ratio to such a figure compares two machines.

Peers run in environments of their own (peers.txt, anonymeter.txt), and never in CI. This process stays small on
purpose: a child's peak begins where its parent's stands.
"""

import csv
import os
import sys
from fnmatch import fnmatch
from pathlib import Path

import results
from environment import environment
from measure import Failed, child
from works import works

HERE = Path(__file__).resolve().parent
REPORTS = HERE.parents[1] / "reports"
TABLE = REPORTS / "bench.csv"
PEERS = "anonymity-api", "anonypy", "anonypyx", "anjana", "microaggregation", "pycanon", "anonymeter"
APART = ("anonymeter",)  # peers with an environment of their own


def main():
    known = [work.name for work in works()]
    usual = [work.name for work in works() if not work.asked]
    chosen = choose(os.environ["WORKS"], known, "WORKS") if os.environ.get("WORKS") else usual
    peers, notes = choose_peers()
    if os.environ.get("ARX_JAR"):
        notes.append("ARX: running its jar is not implemented; its quoted figures stand.")
    for work in works():
        if work.name not in chosen:
            continue
        if work.hierarchies and not os.environ.get("HIERARCHIES"):
            notes.append(f"{work.name}: skipped. Name the folder of ARX's hierarchies: HIERARCHIES=FOLDER.")
        else:
            own(work, notes)
            theirs(work, peers, notes)
        quoted(work)
    print(*(path.relative_to(REPORTS.parent) for path in (TABLE, *results.draw(TABLE, known))), sep="\n")
    for note in notes:
        print(note)


def own(work, notes):
    """privnb's rows of a work."""
    try:
        keep(work, *child(sys.executable, HERE / work.script, work.name)[0])
        if work.hierarchies:
            [row], seconds = child(sys.executable, HERE / "works.py", work.name, "once")
            keep(work, row | {"seconds": seconds})
    except Failed as failed:
        missing = str(failed).startswith(("ImportError", "AttributeError", "ModuleNotFoundError"))
        notes.append(f"{work.name}: privnb {'is not there yet' if missing else 'failed'}: {failed}")


def theirs(work, peers, notes):
    """The peers' rows of a work."""
    slow = () if os.environ.get("SLOW") == "1" else work.slow
    running = [peer for peer in work.peers if peer in peers and peer not in slow]
    file = REPORTS / "bench" / f"{work.needs}.csv"
    try:
        if running:
            file.parent.mkdir(parents=True, exist_ok=True)
            child(sys.executable, HERE / "inputs.py", work.needs, file)
    except Failed as failed:
        notes.append(f"{work.name}: {', '.join(running)} could not be run, their input was not made: {failed}")
        return
    for peer in running:
        try:
            keep(work, *child(peers[peer], HERE / f"peer_{peer.replace('-', '_')}.py", *work.k, file)[0])
        except Failed as failed:
            notes.append(f"{work.name}: {peer} could not be run: {failed}")


def quoted(work):
    """Rows that stand for what is not run."""
    with open(HERE / "quoted.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row.pop("work") == work.name:
                keep(work, row)


def keep(work, *rows):
    """Put rows into the table, and say so."""
    for row in rows:
        parameters = ", ".join(filter(None, [work.parameters, row.pop("parameters", "")]))
        results.keep(TABLE, {"work": work.name, "size": work.records} | row | {"parameters": parameters})
        print(f"{work.name}:", ", ".join(f"{name} {results.text(value)}" for name, value in row.items()), flush=True)


def choose(asked, known, variable):
    """The names in `known` that the patterns in `asked` pick; all without one."""
    patterns = (asked or "*").replace(",", " ").split()
    unknown = [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in known)]
    if unknown:
        sys.exit(f"{variable}: there is no {' or '.join(unknown)}. There are: {', '.join(known)}.")
    return [name for name in known if any(fnmatch(name, pattern) for pattern in patterns)]


def choose_peers():
    """`{peer: its Python}`, and why there are none."""
    asked = os.environ.get("PEERS")
    if asked == "none":
        return {}, []
    if os.environ.get("CI"):
        return {}, ["Peers never run in CI."]
    chosen = choose(asked, PEERS, "PEERS")
    try:
        found = {peer: environment(REPORTS / f".venv-{peer}", f"{peer}.txt") for peer in chosen if peer in APART}
        if together := [peer for peer in chosen if peer not in APART]:
            found |= dict.fromkeys(together, environment(REPORTS / ".venv-peers"))
        return found, []
    except Failed as failed:
        return {}, [f"{', '.join(chosen)} could not be run, their environment was not made: {failed}"]


if __name__ == "__main__":
    main()
