"""A table of people who do not exist whose names and values would be elements, scripts, links, formulas and requests,
if anything took them for more than text.
"""

import contextlib
import csv
import json
import threading
from random import Random
from socketserver import BaseRequestHandler, ThreadingTCPServer

RECORDS = 300

# `{port}` is a socket of the test's own: nothing may ask it for anything. What becomes an element has the class
# `foreign`, what becomes a link or an image leads to the port or to a script.
AGE = '<img class=foreign src=x onerror="window.hit=1"> age'
JOB = "job <script class=foreign>window.hit=1</script>, [a](http://127.0.0.1:{port}/link) & **bold** __b__"
TOWN = "town ![](http://127.0.0.1:{port}/image) [x](javascript:window.hit=1) `code` | http://127.0.0.1:{port}/bare"
WARD = "ward </textarea></script></style></title><svg class=foreign onload=window.hit=1> \"'"
ILLNESS = (
    "illness <meta class=foreign http-equiv=refresh content='0; url=http://127.0.0.1:{port}/away'>"
    "<style class=foreign>td {visibility: hidden}</style> $\\href{javascript:window.hit=1}{x}$ *it* \\(y\\)"
)
COLUMNS = (AGE, JOB, TOWN, WARD, ILLNESS)
VALUES = {
    JOB: (
        "<iframe class=foreign src=http://127.0.0.1:{port}/frame>",
        "![](http://127.0.0.1:{port}/value)",
        "*of*",
        "<=50K",
    ),
    TOWN: ("$$\\class{foreign}{a}$$", "<b class=foreign>b", "--> <!-- ]]>"),
    WARD: ("day", "night<br class=foreign>"),
    ILLNESS: (
        "<img class=foreign src=http://127.0.0.1:{port}/told onerror=window.hit=1>",
        "<a class=foreign href=javascript:window.hit=1>cold</a>",
        "[flu](http://127.0.0.1:{port}/flu)",
        "**none** ~~of~~ `these` | \\begin{equation}x\\end{equation}",
    ),
}
STUDY = "<i class=foreign>study"
NAME = "<u class=foreign onclick=1>people"


def write(folder, port):
    """Write the table and its description; the description's path."""
    random = Random(7)
    rows = []
    for _ in range(RECORDS):
        age = 20 + int(40 * random.random())
        picked = {name: _pick(random, values, age) for name, values in VALUES.items()}
        rows.append([str(age), *(picked[name] for name in COLUMNS[1:])])
    file = folder / f"{NAME}.csv"
    with open(file, "w", newline="", encoding="utf-8") as text:
        csv.writer(text).writerows([_at(each, port) for each in row] for row in [COLUMNS, *rows])
    names = [_at(name, port) for name in COLUMNS]
    said = [
        f"[dataset]\nname = {_q(NAME)}\ntitle = {_q(_at(ILLNESS, port))}\ndescription = {_q(_at(TOWN, port))}",
        f"default_study = {_q(STUDY)}",
        f"[[files]]\npath = {_q(file.name)}",
        f"[studies.{_q(STUDY)}]",
        f"quasi-identifier = {json.dumps(names[:3])}\nneutral = {json.dumps(names[3:4])}",
        f"sensitive = {json.dumps(names[4:])}",
        f'[columns.{_q(names[0])}]\nrole = "quasi-identifier"\ndomain = {{ low = 20, high = 59 }}',
        f"unit = {_q(names[0])}",
    ]
    for name, role in zip(COLUMNS[1:], ("quasi-identifier", "quasi-identifier", "neutral", "sensitive"), strict=True):
        domain = json.dumps([_at(value, port) for value in VALUES[name]])
        said.append(f'[columns.{_q(_at(name, port))}]\nrole = "{role}"\ndomain = {domain}')
    path = folder / f"{NAME}.toml"
    path.write_text("\n".join(said) + "\n", encoding="utf-8")
    return path


def _pick(random, values, age):
    """The older, the likelier a late value: there is something to learn."""
    return values[min(int(len(values) * (random.random() + (age - 20) / 40) / 2), len(values) - 1)]


def _at(text, port):
    return text.replace("{port}", str(port))


def _q(text):
    return json.dumps(text)


@contextlib.contextmanager
def listening():
    """`port` of a socket, and the first lines of what it is `asked`."""
    asked = []

    class Note(BaseRequestHandler):
        def handle(self):
            asked.append(self.request.recv(200).split(b"\r\n")[0])

    with ThreadingTCPServer(("127.0.0.1", 0), Note) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
