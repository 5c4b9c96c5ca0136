"""The command `privnb`: each subcommand reads its arguments and calls the package.

One module, since the arguments of a subcommand and what it does with them change together.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import sys
import time
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from privnb.runtime.invisible import Shown
from privnb.runtime.names import columns_in, meant, names_in, unquoted
from privnb.runtime.processes import fit_to_limit, memory_limit, runs_as, wants_memory
from privnb.runtime.stopping import interrupts_noted, stoppable

# Our reporting first, which spares JupyterLab the library that takes longer to load than all others together.
LAB = "import privnb.reporting; from jupyterlab.labapp import main; main()"


EXAMPLES = """\
examples:
  {0} report                             the whole loop on the shipped table
  {0} report --notebook 04 -p K 25       one notebook with another setting
  {0} app                                one setting, live, in a browser
  {0} app --new people.csv               a table of your own: say by menu what its columns are,
  {0} new people.csv                     or draft its description for an editor,
  {0} check people.csv                   grade it,
  {0} report --dataset people            and report on it
"""


TOTALS = """\
FILE has the columns total (a name), covers (the records or groups that it is of, with ; between) and value; a column
kind, which may be left out, says sum, max or min:
  total,covers,value
  all wards,north;south;east,61.5
  north and south,north;south,40
Here east = 21.5 follows.
"""


def main(arguments=None):
    """Run one subcommand; returns the exit status: 0 done, 1 not reached (`check`) or found (`audit`), 2 refused or
    failed (one message on stderr), 130 stopped by hand, 143 by SIGTERM, 129 by SIGHUP (a closed terminal): 128 and the
    signal's number."""
    with contextlib.redirect_stdout(Shown(sys.stdout)), contextlib.redirect_stderr(Shown(sys.stderr)):
        return _main(arguments)


def _main(arguments):
    try:
        with stoppable():
            parser = _parser()
            args = parser.parse_args(arguments)
            if args.version:
                return print(f"privnb {metadata.version('privnb')}") or 0
            if not hasattr(args, "run"):
                return parser.print_help() or 0
            fit_to_limit()
            status = args.run(args) or 0
            sys.stdout.flush()
            return status
    except Exception as error:
        status = _refused(error)
        if status is None:
            raise
        return status
    except KeyboardInterrupt as stop:
        with contextlib.suppress(OSError):  # a terminal that is gone
            print("privnb: stopped.", file=sys.stderr)
        return 128 + (stop.args[0] if stop.args else signal.SIGINT)


def _refused(error):
    """Say in one sentence what was refused; return the exit status, or None for a fault of the package."""
    if isinstance(error, BrokenPipeError):  # the reader has seen enough, such as `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    if wants_memory(error):
        print(
            f"privnb: there is not enough memory{memory_limit()}. Allow this process more, lower --memory where the "
            "command has it, or give fewer records or columns.",
            file=sys.stderr,
        )
        return 2
    if isinstance(error, OSError) and error.filename is not None:  # a file that cannot be read or written
        print(f"privnb: {error.filename}: {error.strerror}.", file=sys.stderr)
        return 2
    if isinstance(error, ValueError | OSError):
        from privnb.reporting.notebooks import is_ours

        if is_ours(error):
            print(f"privnb: {error}", file=sys.stderr)
            return 2
    return None


def report(args):
    """Run the notebooks; say where the report is, how long it took, and what is not in it."""
    from privnb.reporting import LIBRARIES, printing
    from privnb.reporting.notebooks import choose, notebooks_folder
    from privnb.runtime.processes import begin_to_serve
    from privnb.runtime.progress import taken

    begun = time.monotonic()
    if args.pdf:
        printing.browser()  # refused before anything runs

    parameters = dict(args.parameter)
    named = args.notebook and (names_in(",".join(args.notebook)) or args.notebook)  # also "2, 4"
    folder = notebooks_folder()
    if args.dataset:
        parameters["DATASET"] = _dataset(args.dataset, folder)
    chosen = choose(folder, named, parameters)
    begin_to_serve(*LIBRARIES)
    from privnb.papers.ledger_page import Ledger
    from privnb.reporting.report import build, left_out  # a second, in which the server does the same

    out = args.out or _default(folder, chosen, named)
    index = build(out, named, parameters, jobs=args.jobs, compare=Ledger.of)
    print(index.resolve().as_uri())  # which a terminal opens at a click
    if args.pdf:
        print(printing.pdf(index.parent).as_uri())
    print(" ".join([f"Made in {taken(time.monotonic() - begun)}.", *left_out(index)]), file=sys.stderr)


def lab(args):
    """Open JupyterLab on the notebooks: on this machine only, its token on, nothing asked of the network."""
    settings = Path(__file__).parent / "reporting" / "templates" / "lab"  # no news, no question about news
    paths = [str(settings), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, paths))
    os.execv(sys.executable, lab_command(_own_notebooks()) + args.rest)


def app(args):
    """Show the explorer, or the columns of a table, as a page: on this machine only, its token on, nothing asked of the
    network."""
    from privnb.explorer import LIBRARIES
    from privnb.runtime.processes import begin_to_serve

    begin_to_serve(*LIBRARIES)
    from traitlets.config import Config  # seconds, in which the server does the same

    from privnb.explorer.app import checked_host, checked_prefix, served
    from privnb.runtime import unfinished

    base_url, hosts = checked_prefix(args.base_url), [*map(checked_host, args.allow_host)]
    path, asked = _columns(args) if args.new or args.describe or args.name else _explorer(args)
    templates = Path(__file__).parent / "reporting" / "templates" / "app"
    os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(templates), os.environ.get("JUPYTER_PATH")]))
    with unfinished.folder() as folder:  # that of a page which was killed goes with the next one
        page, settings = served(asked, folder, base_url=base_url, hosts=hosts)
        page.launch_instance([str(path), *args.rest], config=Config(settings))


def _explorer(args):
    """The notebook of the explorer, and what is asked of it."""
    from privnb.explorer.app import check_setting
    from privnb.reporting.notebooks import choose

    parameters, folder = dict(args.parameter), _own_notebooks()
    if args.dataset:
        parameters["DATASET"] = _dataset(args.dataset, folder)
    (notebook,) = choose(folder, ["09_explore"], parameters)
    check_setting(notebook)
    return notebook.path, notebook.asked


def _columns(args):
    """The notebook of a table's columns, and which table; refused here if it cannot be opened there."""
    from privnb.datasets.own_table import OwnTable, described
    from privnb.reporting.notebooks import ReportError

    if bool(args.new) == bool(args.describe) or (args.name and not args.new) or args.dataset or args.parameter:
        raise ReportError(
            "what a table's columns are is a page of its own: --new FILE, if need be with --name NAME, or --describe "
            "NAME. Leave out the rest; --dataset and -p are the explorer's."
        )
    path = _own_notebooks() / "your_table.ipynb"
    if not path.is_file():
        raise ReportError(f"{path.parent} lacks {path.name}. Copy it there, or work in another folder.")
    table = OwnTable.open(str(described(args.new or "", args.describe or args.name or "")))
    return path, {"FILE": "", "NAME": str(table.path)}


def new(args):
    """Draft the description of an owner's table, with the roles that are given; status 1 if it cannot be confirmed as
    asked."""
    from privnb.datasets.draft import drafted
    from privnb.datasets.own_table import OwnTable, redescribed
    from privnb.datasets.roles import parsed_missing

    us, missing, news = shlex.quote(runs_as()), parsed_missing(args.missing or ""), []
    if args.again:
        table, news = redescribed(args.file, args.name, missing=missing, encoding=args.encoding)
        path = Path("data", table.path.stem, table.path.name)
    else:
        path, table = drafted(args.file, args.name, missing=missing, encoding=args.encoding)
    try:
        table, said = _described(table if args.again else OwnTable.open(str(path), table), args)
    except ValueError:
        if not args.again:
            shutil.rmtree(path.parent)  # so that the same command can be corrected
        raise
    draft_still = (
        f"This is a draft. Say what its columns are by menu (`{us} app --describe {path.stem}`), in words "
        f"(`{us} describe --help`), or in an editor as its first lines say. Then"
    )
    print(path, *said, *news, sep="\n")
    print(
        f"{draft_still if table.is_draft else 'Now'} run `{us} report --dataset {path.stem}`. "
        f"{path.parent} also holds a copy of {args.file}, which later changes of that file do not reach. Git ignores "
        "that folder, because it holds people's data."
    )
    return _unconfirmed(args, table)


def describe(args):
    """Give roles to the columns of a table, and show them; status 1 if they cannot be confirmed as asked."""
    from privnb.datasets.own_table import OwnTable
    from privnb.datasets.proposals import unconfirmed

    table, said = _described(OwnTable.open(args.name), args)
    columns = table.seen(table.roles)
    width = max(len(each.name) for each in columns)
    for each in columns:
        seen = f"{each.kind}, {each.different:,} different, {each.missing:,} missing; {each.examples}".rstrip("; ")
        print(f"{each.name:<{width}}  {table.roles.chosen[each.name]:<16}  {seen}")
    print(*said, sep="\n")
    if args.confirm and not table.is_draft:
        print(f"The roles in {table.path.name} are confirmed.", unconfirmed(table.text))
        print(f"Next: `{shlex.quote(runs_as())} report --dataset {shlex.quote(args.name)}`.")
    return _unconfirmed(args, table)


def _unconfirmed(args, table):
    """1 where a table should be confirmed and cannot be, and says so; else 0."""
    if still := args.confirm and table.is_draft:
        print(f"privnb: {table.path.name} is not confirmed; what it lacks stands above.", file=sys.stderr)
    return int(still)


def _described(table, args):
    """The table with the roles that are given, which are written; and what stands out and is missing, sentences."""
    from privnb.datasets.roles import checked, parsed, parsed_days
    from privnb.microdata.schema import Role, SchemaError
    from privnb.runtime.names import renaming
    from privnb.runtime.sentences import listed

    roles, names = table.roles, []
    if args.sensitive is not None:
        names = [table.renamed.get(name, name) for name in columns_in(args.sensitive, [*roles.chosen, *table.renamed])]
        first, *more = [checked(name, roles.chosen) for name in names] or [""]
        roles = roles.sensitive(first).having(dict.fromkeys(more, Role.SENSITIVE))
    roles = roles.having(parsed(args.roles or "", roles.chosen, table.renamed))
    if twice := [name for name in names if roles.chosen.get(name) is not Role.SENSITIVE]:
        raise SchemaError(f"{listed(twice)}: sensitive by --sensitive, and not by --roles. Say one of the two.")
    roles = replace(roles, days={**roles.days, **parsed_days(args.days or "", roles.chosen, table.renamed)})
    if args.confirm and not roles.names(Role.PERSON):
        roles = roles.person("")
    lacks = roles.lacks
    if roles != table.roles or (args.confirm and table.is_draft):
        table, lacks = table.save(roles, confirm=args.confirm)
    alerts = [f"{each.name}: {alert}." for each in table.seen(roles) for alert in each.alerts]
    return table, [*renaming(table.renamed), *alerts, *filter(None, [table.copies]), roles.publishes, *lacks]


def sanitize(args):
    """Make a release of a table, from file to file; say what is in it."""
    from privnb.publishing import from_files

    made = from_files.sanitize(
        args.source, args.model, args.out, algorithm=args.algorithm, dataset=args.dataset, study=args.study,
        memory=args.memory, spreadsheet_safe=args.spreadsheet_safe, allow=args.allow,
        encoding=args.encoding,
    )  # fmt: skip
    print(*made.said, sep="\n")


def decide(args):
    """Choose a release by a policy, and write it if asked; status 1 if none keeps it."""
    from privnb.datasets.dataset import load
    from privnb.decision import policies
    from privnb.decision.policy_search import searched_in_roles
    from privnb.decision.recommended import as_they_are, what_would_help
    from privnb.evaluation.parameters import study
    from privnb.evaluation.samples import record_by_record
    from privnb.microdata.schema import SchemaError
    from privnb.publishing import decided
    from privnb.reporting import release_card
    from privnb.tables.spreadsheets import OPTION

    policy = policies.read(args.policy)
    if args.release:
        decided.refuse_place(args.release, spreadsheet_safe=args.spreadsheet_safe)
    elif args.allow is not None:
        raise SchemaError("--allow is for the file that --release names. Add --release OUT.csv, or leave out --allow.")
    elif args.spreadsheet_safe:
        raise SchemaError(
            f"{OPTION} changes text in the file that --release names. Add --release OUT.csv, or leave out {OPTION}."
        )
    named = study(args.name, args.study or "")
    whole = load(args.name, named)
    dataset = record_by_record(whole.sample(args.records, rng=0) if args.records else whole, args.records)

    def in_roles(roles):
        table = load(args.name, named, records=args.records, rng=0, roles=roles)
        return record_by_record(table, args.records)

    dataset, found = searched_in_roles(
        in_roles, dataset, policy, profile=args.profile, seeds=args.seeds, store=args.store or "", records=len(whole)
    )
    ended = decided.end(
        args.name, found, dataset, args.release, render=release_card.texts, study=named,
        spreadsheet_safe=args.spreadsheet_safe, allow=args.allow,
    )  # fmt: skip
    print(*filter(None, [ended.said, what_would_help(ended.found, dataset), as_they_are(dataset)]), sep="\n")
    return int(ended.found.chosen is None)


def check(args):
    """Grade a table by its equivalence classes; status 1 if the k that was asked for is not reached, and if the gate
    refuses a file of a described dataset.

    With a card: whether it is of this file, and what can be counted in the file is as it says; status 1 if not, and if
    the file breaks its policy.
    """
    if args.card:
        return _check_card(args)
    import pandas as pd

    from privnb.datasets.dataset import Chosen, find, load
    from privnb.datasets.unknown_files import Unknown
    from privnb.microdata.schema import Role, SchemaError
    from privnb.privacy_models import check_k
    from privnb.privacy_models.grading import grade, known
    from privnb.tables.memory import Memory
    from privnb.tables.writing import FACTS

    memory, described = Memory.of(args.memory), None
    if args.at_least_k is not None:
        check_k(args.at_least_k)
    if args.file.endswith(".toml"):
        dataset = load(args.file)
        table, schema = Unknown([*dataset.cells], [], dataset.cells), dataset.schema
    else:
        table, described = Unknown.of(args.file), args.dataset and Chosen.of(find(args.dataset), args.study)
        schema = described and described.schema
    called = _renamed_in(args.file, table.names)
    names = args.quasi_identifiers and columns_in(args.quasi_identifiers, [*table.names, *called])
    names = names and [called.get(name, name) for name in names]
    secrets = [args.sensitive if args.sensitive in (None, *table.names) else unquoted(args.sensitive)]
    secrets = [called.get(name, name) for name in secrets]
    if schema:
        names = names or [name for name in schema.quasi_identifiers if name in table.names and name not in secrets]
        if args.sensitive is None:
            secrets = [name for name in schema.sensitive if name in table.names and name not in names] or secrets
    key = schema.person if schema else None
    person = args.person or (key if key in table.names else None)
    unknown = f"'{key}' of {schema.dataset}, the key of people, is not in {args.file}" if key and not person else ""
    if unknown and args.at_least_k is not None:
        raise SchemaError(f"{unknown}: its k of people cannot be counted. Name the column that is it with --person.")
    lacking = [name for name in (schema.quasi_identifiers if described else ()) if name not in table.names]
    strange = [name for name in (table.names if described else ()) if name not in described.columns.names()]
    names = known(table.names, names, secrets[0], person)
    cells, times = table.counted([*names, *filter(None, (*secrets, person))], memory)
    cells = described.with_one_mark(cells) if described else cells
    grades, *others = (grade(cells, names, secret, person, times) for secret in secrets)
    for each in others:  # whose classes are the same
        grades = pd.concat([grades, each[each.measure.eq("sensitive values").cummax()]])
    for row in grades.itertuples():
        number = f"{row.value:.1%}" if row.unit == "share" else f"{row.value:,.4f}".rstrip("0").rstrip(".")
        print(f"{row.measure:<20}{number:>10}  {row.meaning}")
    if lacking:
        print(f"Not in {args.file}, and so not counted: {', '.join(lacking)}, by {schema.dataset} quasi-identifiers.")
    if not Path(f"{args.file}{FACTS}").is_file():  # in a release, records are alike on purpose
        roles = {each.name: each.role for each in schema.attributes if each.name in table.names} if schema else {}
        if said := table.copies(roles | ({person: Role.PERSON} if person else {}), memory):
            print(said)
    if strange:
        print(f"Not described by {schema.dataset}, and so not counted: {', '.join(strange)}.")
    if unknown:
        print(f"{unknown}: these are counts of records, of which a person may have several.")
    print("Counts of fewer than 10 people are shown here: they are for the table's owner, not for a report.")
    status = _say_gate(args.file, table, schema, memory) if described else 0
    reached = grades.value[grades.measure == "k achieved"].iloc[0]
    if args.at_least_k is not None and reached < args.at_least_k:
        print(f"privnb: k is {reached:g}, less than the {args.at_least_k} asked for.", file=sys.stderr)
        return 1
    return status


def _renamed_in(file: str, names: list[str]) -> dict[str, str]:
    """Return what columns of a release are called, by the source's names, as its provenance records them.

    A name that the release has itself means that column.
    """
    from privnb.decision.card import provenance
    from privnb.tables.writing import FACTS

    recorded = provenance(Path(file)).get("renamed", {}) if Path(f"{file}{FACTS}").is_file() else {}
    return {own: name for own, name in recorded.items() if own not in names}


def _say_gate(file, table, schema, memory):
    """Say what the gate says of a file; 1 for a release that it refuses, unless its owner has overridden that."""
    import pandas as pd

    from privnb.decision.card import provenance
    from privnb.publishing.gate_in_file import judged
    from privnb.tables.writing import BUCKETS, FACTS

    beside, held = Path(f"{file}{FACTS}"), Path(f"{file}{BUCKETS}")
    done = provenance(Path(file)) if beside.is_file() else {}
    buckets = pd.read_csv(held) if held.is_file() else None
    verdict = judged(table, schema, done, memory, buckets=buckets)
    recorded = done.get("gate", {})
    # A file has no key of people, whom the gate counted when it was made.
    before = [reason["says"] for reason in recorded.get("reasons", ())] if verdict.allowed else []
    refused = bool(before) or not verdict.allowed
    print(verdict.refusal or " ".join(["The gate refuses this file.", *before]) if refused else "The gate allows it.")
    if refused and recorded.get("override"):
        print(f"Its owner overrides this refusal: {recorded['override']}")
    for notice in verdict.notices:
        if str(notice) not in before:
            print(notice)
    return int(refused and not recorded.get("override"))


def _check_card(args):
    from privnb.decision import policies
    from privnb.decision.card import Card, CardError, verify

    others = ("quasi_identifiers", "sensitive", "person", "dataset", "study", "at_least_k")
    if any(getattr(args, name) is not None for name in others):
        raise CardError("--card asks for all of it by itself: leave out what grades a table, or leave out --card.")
    card = Card.read(args.card)
    wrong = verify(card, args.file, args.policy and policies.read(args.policy))
    if wrong:
        print(f"privnb: {args.card} does not hold for {args.file}:", *wrong, sep="\n", file=sys.stderr)
        return 1
    release = card.content["release"]
    k = "" if release["k"] is None else f", k is {release['k']:,} again"
    print(f"{args.card} is of {args.file}: the same digest, {release['rows']:,} rows{k}.")
    answer = card.content["answer"]
    print(*answer["sentences"], sep="\n")
    return int(not answer["keeps"])


def audit(args):
    """Say which single values follow from published totals, with the totals that prove it; status 1 if any does."""
    from privnb.measures.count_tables.totals import disclosed, read_totals
    from privnb.microdata.schema import SchemaError

    totals = read_totals(args.file)
    try:
        found = disclosed(totals)
    except ValueError as error:
        raise SchemaError(f"{args.file}: {error}") from None
    names = {name for total in totals for name in total.of}
    published = f"the {len(totals)} published totals" if len(totals) > 1 else "this 1 published total"
    if found:
        print(f"{len(found)} of {len(names)} values follow exactly from {published}:", *found, sep="\n")
        print("Publish fewer totals, or totals of sets that overlap otherwise, and audit them again.")
    else:
        print(f"No value of {len(names)} follows from {published} alone.")
    print("Whoever knows some of the values, or bounds on them, may learn more than this.")
    return int(bool(found))


def lab_command(folder):
    """The command that starts JupyterLab on `folder`."""
    command = [
        sys.executable, "-c", LAB, "--ip=127.0.0.1", f"--ServerApp.root_dir={folder}",
        "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]  # fmt: skip
    return command + ["--allow-root"] * (hasattr(os, "geteuid") and os.geteuid() == 0)


class _Parser(argparse.ArgumentParser):
    """Refuses in one sentence, which says what may have been meant."""

    more = staticmethod(str)  # what follows its help

    def add_argument(self, *names, **how):
        """An argument with a value is refused if the value is empty, unless it has a `type` of its own."""
        if how.get("action", "store") in ("store", "append", "extend"):
            how = {"type": _filled} | how
        return super().add_argument(*names, **how)

    def format_help(self):
        return super().format_help() + self.more()

    def error(self, message):
        wrong = re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message)
        near = meant([wrong[1]], re.findall(r"[\w-]+", wrong[2])) if wrong else ""
        self.exit(2, f"{self.prog}: {message}.{near} `{self.prog} --help` says more.\n")


def _filled(text):
    """The text of an argument. Raises ArgumentTypeError for an empty one."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty; give a value, or leave it out")
    return text


def _name_list(text):
    """The text of an argument that lists names. Raises ArgumentTypeError for one that lists none."""
    if not names_in(_filled(text)):
        raise argparse.ArgumentTypeError(f"must list at least one name, got {text!r}")
    return text


def _parser():
    parser = _Parser(prog="privnb", description="Privacy and utility of sanitized microdata.")
    parser.more = lambda: "\n" + EXAMPLES.format(runs_as())
    parser.add_argument("--version", action="store_true", help="show which version this is")
    commands = parser.add_subparsers(metavar="COMMAND")

    command = commands.add_parser("report", help="run the notebooks and make a report of them")
    command.more = _offer
    command.add_argument(
        "--notebook",
        nargs="+",
        action="extend",
        metavar="NAME",
        type=_name_list,
        help="only these; the beginning of a name will do, such as 04",
    )
    _add_parameters(command)
    command.add_argument(
        "--out", metavar="DIR", help="where the report goes (reports/<dataset>, or reports/<dataset>-<profile>)"
    )
    command.add_argument("--jobs", type=int, metavar="N", help="notebooks run at a time (one per core)")
    command.add_argument("--pdf", action="store_true", help="print it to report.pdf too, with Chromium or Chrome")
    command.set_defaults(run=report)

    command = commands.add_parser("lab", help="open JupyterLab on the notebooks")
    command.add_argument("rest", nargs="*", metavar="-- ARGUMENT", help="passed on to JupyterLab")
    command.set_defaults(run=lab)

    command = commands.add_parser("app", help="show the explorer as a page, without code")
    _add_parameters(command)
    command.add_argument("--new", metavar="FILE", help="a table of your own instead: say by menu what its columns are")
    command.add_argument("--name", metavar="NAME", help="with --new: its folder under data/ (the file's name)")
    command.add_argument("--describe", metavar="NAME", help="the same page of a table that is described already")
    command.add_argument(
        "--allow-host", metavar="HOST", action="append", default=[],
        help="also answer requests that address this name, such as a hub's; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--base-url", metavar="PATH", default="/", help="the path below which a hub serves the page (/)"
    )  # fmt: skip
    command.add_argument("rest", nargs="*", metavar="-- ARGUMENT", help="passed on to Voila")
    command.set_defaults(run=app)

    command = commands.add_parser("new", help="draft the description of a table of your own")
    command.add_argument(
        "file",
        metavar="FILE",
        help="a table: CSV, Parquet, Excel, OpenDocument, SPSS, Stata, SAS, or a folder of its parts",
    )
    command.add_argument("--name", metavar="NAME", help="its folder under data/ (the file's name)")
    command.add_argument(
        "--missing", metavar="'A: 97|98, B: -'", help="texts that say that no value is there, beside empty cells, NA "
        "and the like",
    )  # fmt: skip
    _add_encoding(command)
    command.add_argument(
        "--again", action="store_true", help="FILE was corrected: take over the roles that its description has"
    )
    _add_roles(command)
    command.set_defaults(run=new)

    command = commands.add_parser("describe", help="show the columns of a described table, and give them roles")
    command.add_argument("name", metavar="NAME", help="its folder under data/, or its .toml file")
    _add_roles(command)
    command.set_defaults(run=describe)

    command = commands.add_parser("sanitize", help="make a release of a table, from file to file, however long it is")
    command.add_argument(
        "source", metavar="IN", help="CSV, Parquet, a folder of either, or the name of a described dataset"
    )
    command.add_argument(
        "--model", required=True, metavar="'k=10, t=0.2:SALARY'",
        help="what every class keeps: names of models, each with its bound and its sensitive attribute; l=2 asks for "
        "two different values. The names are listed below",
    )  # fmt: skip
    command.add_argument("--out", required=True, metavar="OUT", help="a new .parquet or .csv file, or a folder")
    command.add_argument(
        "--algorithm", default="Mondrian", metavar="NAME", help="which sanitizer keeps it, such as 'local recoding'"
    )
    command.add_argument("--dataset", metavar="NAME", help="the dataset whose description says what the columns are")
    command.add_argument("--study", metavar="NAME", help="in the roles of this study of its description")
    command.add_argument("--memory", default="2GB", metavar="SIZE", help="what it may take at most (2GB)")
    _add_encoding(command)
    _add_spreadsheet_safe(command)
    command.more = _models
    _add_allow(command)
    command.set_defaults(run=sanitize)

    command = commands.add_parser(
        "decide", help="choose a release by a policy: caps on its risks, what users must keep"
    )
    command.add_argument("name", metavar="NAME", help="its folder under data/, or its .toml file")
    command.add_argument(
        "--policy", required=True, metavar="POLICY", help=f"a .toml file of yours, or one of {', '.join(_policies())}"
    )
    command.add_argument("--study", metavar="STUDY", help="in the roles of this study of its description")
    command.add_argument(
        "--profile", default="quick", metavar="PROFILE", help="how much is tried: quick (minutes) or full"
    )
    command.add_argument(
        "--records", type=int, default=0, metavar="N", help="of a random sample of so many records (all)"
    )
    command.add_argument("--seeds", type=int, default=0, metavar="N", help="repeats of what is drawn (the profile's)")
    command.add_argument(
        "--store", metavar="DIR", help="a folder that keeps what is finished, so that a stopped run goes on"
    )
    command.add_argument("--release", metavar="OUT", help="also make the chosen release: a new .csv or .parquet file")
    _add_spreadsheet_safe(command)
    _add_allow(command)
    command.set_defaults(run=decide)

    command = commands.add_parser("check", help="grade a table: who is alike, which k it reaches")
    command.add_argument("file", metavar="FILE", help="a table, such as a release, or a dataset's .toml file")
    command.add_argument(
        "--quasi-identifiers",
        metavar="A,B",
        type=_name_list,
        help="what an adversary may know (all other columns); quote a name that has a comma",
    )
    command.add_argument("--sensitive", metavar="C", help="what nobody should learn")
    command.add_argument("--person", metavar="D", help="the key of the person whose record it is: k counts people")
    command.add_argument(
        "--dataset", metavar="NAME", help="take all three from this dataset's description, and ask the gate: status 1 "
        "if it refuses the file"
    )  # fmt: skip
    command.add_argument("--study", metavar="NAME", help="with --dataset: in the roles of this study of it")
    command.add_argument("--card", metavar="CARD", help="verify this release card against the file instead")
    command.add_argument("--policy", metavar="POLICY", help="with --card: the policy as it is now")
    command.add_argument("--at-least-k", type=int, metavar="K", help="exit with status 1 if k is less")
    command.add_argument("--memory", default="2GB", metavar="SIZE", help="what it may take at most (2GB)")
    command.set_defaults(run=check)

    command = commands.add_parser(
        "audit",
        help="say which single values follow from published totals",
        description="Say which single values follow exactly from published totals, with the totals that prove it. "
        "Status 1 if any does.",
    )
    command.more = lambda: "\n" + TOTALS
    command.add_argument("file", metavar="FILE", help="a table with one row per published total")
    command.set_defaults(run=audit)

    return parser


def _policies():
    """The names of the ready policies, without reading them."""
    folder = Path(__file__).parent / "decision" / "policies"
    return sorted(path.stem for path in folder.glob("*.toml"))


def _add_roles(command):
    command.add_argument(
        "--sensitive", metavar="A,B", type=str, help='what nobody should learn; "" if there is nothing'
    )
    command.add_argument(
        "--roles", metavar="'A: ROLE, B: ROLE'",
        help="identifier, person (the key of whose rows these are), weight (for how many people a row stands), "
        "quasi-identifier, sensitive, neutral or unused; 'q*' is each column whose name begins with q",
    )  # fmt: skip
    command.add_argument(
        "--days", metavar="'A: dd/mm/yyyy'", help="how its days are written, where that cannot be seen: then months "
        "and quarters are made for it anew",
    )  # fmt: skip
    command.add_argument(
        "--confirm", action="store_true", help="it is no draft any more; without a key each row is one person"
    )


def _add_encoding(command):
    command.add_argument(
        "--encoding", metavar="NAME", help="of text files that are not UTF-8, such as cp1252 or cp932 (it is proposed)"
    )


def _add_spreadsheet_safe(command):
    command.add_argument(
        "--spreadsheet-safe", action="store_true",
        help="put an apostrophe before each text in the CSV file that a spreadsheet would run as a formula",
    )  # fmt: skip


def _add_allow(command):
    command.add_argument(
        "--allow", metavar="REASON", help="release what the gate refuses, for this reason: output, provenance and card "
        "repeat it",
    )  # fmt: skip


def _add_parameters(command):
    command.add_argument(
        "-p", "--parameter", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), type=str,
        help="set a parameter of the notebooks, such as -p K 25",
    )  # fmt: skip
    command.add_argument("--dataset", metavar="NAME", help="folder under data/, or a .toml file")


def _offer():
    """What a report can be asked for, of the notebooks that are here."""
    from privnb.reporting.notebooks import choose, notebooks_folder
    from privnb.reporting.offer import offered

    return "\n" + offered(choose(notebooks_folder()))


def _models():
    """Every model that `--model` can ask for: how it is written, and what it asks for."""
    from privnb.publishing.in_words import forms

    lines = [line for form, meaning in forms() for line in (f"  {form}", f"      {meaning}")]
    note = "  l=L:SENSITIVE\n      The same as distinct-l."
    head = 'models, with commas between them; names and values with separators stand in quotes, t=0.2:"City, State":'
    return "\n" + "\n".join([head, *lines, note]) + "\n"


def _own_notebooks():
    """The notebooks to open, and to write beside; says where they are if they have just been copied there."""
    from privnb.reporting.offer import own_notebooks

    folder, made = own_notebooks()
    if made:
        print(f"privnb: the package's notebooks are copied to {folder}, where you can change them.")
    return folder


def _dataset(name, notebooks):
    """What names the dataset in the notebooks' folder as `name` does here. A dataset that does not load is refused."""
    from privnb.datasets.dataset import find, load

    load(name)
    path = find(name).resolve()
    return name if path == notebooks.parent / "data" / name / f"{name}.toml" else str(path)


def _default(folder, chosen, named):
    """`reports/<dataset>`; a report of another profile, or of some notebooks, goes beside it, not in its place."""
    from privnb.reporting.offer import reports_folder

    dataset = next((n.values["DATASET"] for n in chosen if "DATASET" in n.values), "notebooks")
    asked = {n.asked["PROFILE"]: n.parameters["PROFILE"].default for n in chosen if "PROFILE" in n.asked}
    profile = [name for name, default in asked.items() if name != default]
    name = "-".join([Path(dataset).stem, *profile, *(n.name for n in chosen if named)])
    return reports_folder(folder) / name


if __name__ == "__main__":
    with interrupts_noted():
        from privnb import cli  # by its name, which errors of the package are known by

        status = cli.main()
    sys.exit(status)
