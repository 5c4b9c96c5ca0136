"""The page's server: what it answers to whom, behind a hub as well, and what a killed one leaves."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from support import browsing
from support.clinic import CLINIC

from privnb import cli
from privnb.app.server import check_host, check_prefix
from privnb.reporting.notebooks import ReportError
from privnb.runtime import temporary

NAME = "09_explore"


@pytest.fixture(scope="module")
def served(tmp_path_factory, kernel):
    """`privnb explore` behind a hub: the `url` of the page, its `token` and the `pid` of the server."""
    root = tmp_path_factory.mktemp("app")
    browsing.copy(NAME, root / "notebooks")
    hub = ["--base-url", "user/me", "--allow-host", "hub.example"]
    with browsing.app(root, str(CLINIC), *hub) as about:
        url, token = about["url"].split("?token=")
        yield about | {"url": url, "token": token}


def answer(url, **headers):
    """The status and the text that a server answers with, without following where it leads."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_, **__):
            return None

    try:
        opened = urllib.request.build_opener(Stay).open(urllib.request.Request(url, headers=headers), timeout=30)
    except urllib.error.HTTPError as error:
        opened = error
    with opened:
        return opened.status, opened.read().decode()


def test_it_is_served_below_the_prefix_and_by_the_name_of_a_hub(served):
    assert served["url"].endswith("/user/me/")
    root = served["url"].removesuffix("user/me/")
    assert answer(root)[0] == 404
    kernel = f"api/kernels/00000000-0000-0000-0000-000000000000?token={served['token']}"
    for host in ("127.0.0.1", "localhost:80", "hub.example", "hub.example:443", "[::1]"):
        assert answer(served["url"], Host=host)[0] == 302, host  # to the login
        assert answer(served["url"] + kernel, Host=host)[0] == 404, host  # which is not there, and is not refused
    assert answer(served["url"] + kernel, Host="hub.example", Origin="https://hub.example")[0] == 404


@pytest.mark.parametrize("path", ["", "?token={}", "api/kernels/x", "voila/templates/x", "voila/static/x", "nothing"])
@pytest.mark.parametrize("host", ["elsewhere.example", "hub.example.elsewhere", "10.0.0.1", "xhub.example"])
def test_a_request_to_another_name_is_refused_and_the_answer_says_why(served, path, host):
    status, text = answer(served["url"] + path.format(served["token"]), Host=host)
    assert status == 403
    assert f'this request addresses "{host}"' in text
    assert "privnb explore --allow-host NAME" in text


@pytest.mark.parametrize(
    "path",
    ["", "x", "lab/static", "lab/other/x.js", "lab/static/none.js", "nobody/static/x", "%00/static/x", "a/b/c/d", "/"],
)
def test_a_path_below_the_templates_that_is_not_there_is_not_found(served, path):
    assert answer(f"{served['url']}voila/templates/{path}")[0] == 404


@pytest.mark.parametrize(
    ("asked", "path"), [("/", "/"), ("user/me", "/user/me/"), ("/user/me/", "/user/me/"), ("/a@b/~c/", "/a@b/~c/")]
)
def test_a_prefix_is_a_path(asked, path):
    assert check_prefix(asked) == path


@pytest.mark.parametrize(
    "wrong", ["https://hub.example/x", "//hub.example/x", "/a b/", "/a?b", "/a#b", "/(.*)/", "/ü/"]
)
def test_what_is_not_a_prefix_is_refused(wrong, capsys):
    with pytest.raises(ReportError, match="--base-url must be a path such as /user/me/page/; got "):
        check_prefix(wrong)
    assert cli.main(["explore", "--base-url", wrong]) == 2
    assert "--base-url must be a path" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["https://hub.example", "hub.example/", "hub.example:80", ".*", "*", "a b", "-x-"])
def test_what_is_not_a_host_is_refused(wrong):
    with pytest.raises(ReportError, match="--allow-host must be the name of a host"):
        check_host(wrong)


def left_by(pid, root):
    return [*Path(root).glob(f".privnb.{pid}-unfinished-*")]


def test_the_folders_of_a_killed_page_go_with_the_next_work(tmp_path, kernel):
    browsing.copy(NAME, tmp_path / "notebooks")
    with browsing.app(tmp_path, str(CLINIC)) as about:
        folders = left_by(about["pid"], tempfile.gettempdir())
        kinds = {re.sub("_.*|-.*", "", each.name) for folder in folders for each in folder.iterdir()}
        assert {"voila", "pymp"} <= kinds, "none of them stands in the system's folder itself"
        os.kill(about["pid"], signal.SIGKILL)
        os.waitpid(about["pid"], 0)
        with temporary.temporary_folder():
            assert left_by(about["pid"], tempfile.gettempdir()) == []


KILLED = """
import multiprocessing.util, os, signal
from privnb.runtime import processes
with processes.start_workers():
    print(multiprocessing.util.get_temp_dir(), flush=True)
    {}
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)", "pass"])
def test_the_folder_of_sockets_goes_with_its_run_or_with_the_next_one(end):
    with tempfile.TemporaryDirectory(dir="/tmp") as root:
        ran = subprocess.run(
            [sys.executable, "-c", KILLED.format(end)],
            capture_output=True,
            text=True,
            env=os.environ | {"TMPDIR": root},
        )
        assert ran.stderr == ""
        assert Path(ran.stdout.strip()).name.startswith("pymp-")
        assert Path(ran.stdout.strip()).is_relative_to(root)
        assert bool([*Path(root).iterdir()]) == (end != "pass"), "one that ends in peace leaves nothing"
        with temporary.temporary_folder(Path(root)):
            assert not Path(ran.stdout.strip()).exists()
            assert len([*Path(root).iterdir()]) == 1
