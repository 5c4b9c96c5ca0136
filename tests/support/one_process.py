"""A report whose notebooks run one after the other in one process, without kernels: what is in their cells is run, and
shown, as there. `python tests/support/one_process.py FAMILY OUT ASKED` builds it, with a few sanitizers or with all,
what is asked for as JSON; more pairs, more reports.
"""

import asyncio
import atexit
import contextlib
import functools
import gc
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from privnb.datasets import dataset
from privnb.decision import policy_search
from privnb.evaluation import profiles, store
from privnb.evaluation.digests import digest
from privnb.evaluation.experiments import noise_removal
from privnb.microdata.schema import NotForThisTable
from privnb.papers.ledger_page import Ledger
from privnb.reporting import report, running


def build(out, family="all", **asked):
    """The report at `out`, `asked` for as of `report.build`, in another process: nothing of it is left in this one.
    The `family` is "all", or "few" as `few_sanitizers` has them.
    """
    build_all({out: asked}, family)
    return out


def build_all(reports, family="all"):
    """The reports `{out: what is asked for}`, one after the other in one other process, which starts no more of them:
    of small tables that takes as long as the work.
    """
    pairs = [text for out, asked in reports.items() for text in (str(out), json.dumps(asked))]
    subprocess.run([sys.executable, __file__, family, *pairs], check=True)


def run(chosen, work, out, **_):
    """In the place of `running.run_notebooks`."""
    for name in ("executed", "numbers"):
        (work / name).mkdir()
    return {notebook.name: asyncio.run(_execute(notebook, work, out)) for notebook in chosen}


async def _execute(notebook, work, out):
    import nbformat
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook
    from traitlets.config import Config

    own = {"OUT": work / "numbers", "STORE": running.store_folder(out)}
    values = notebook.asked | {name: str(path) for name, path in own.items() if name in notebook.parameters}
    copy = work / "executed" / notebook.path.name
    nbformat.write(notebook.read(), copy)
    read = parameterize_notebook(load_notebook_node(str(copy)), values, kernel_name="python3", language="python")
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    with contextlib.chdir(notebook.path.parent):
        for number, cell in enumerate((cell for cell in read.cells if cell.cell_type == "code"), 1):
            results = []
            shell.display_trap.hook = CapturingDisplayHook(shell, results)
            with capture_output() as captured:
                done = await shell.run_cell_async(cell.source, transformed_cell=shell.transform_cell(cell.source))
            if isinstance(done.error_in_exec, NotForThisTable):
                _end(shell)
                return running.skip_notebook(notebook, str(done.error_in_exec))
            done.raise_error()
            cell.execution_count, new = number, nbformat.v4.new_output
            shown = [{"data": output.data, "metadata": output.metadata} for output in captured.outputs]
            cell.outputs = [new("display_data", **each) for each in shown]
            cell.outputs += [new("execute_result", execution_count=number, **each) for each in results]
            said = {name: getattr(captured, name) for name in ("stdout", "stderr")}
            cell.outputs += [new("stream", name=name, text=text) for name, text in said.items() if text]
    _end(shell)
    nbformat.write(read, copy)
    return running.NotebookRun(running._cleaned(notebook, work, out))


def _end(shell):
    """IPython looks through all that there is, at the end of the process, for each shell that is left."""
    atexit.unregister(shell.atexit_operations)
    type(shell).clear_instance()


def _once(function):
    """`function`, asked the same by two notebooks of a report, or by the reports of several tables: it answers once."""
    known = {}

    @functools.wraps(function)
    def asked(*given, **more):
        key = digest((given, {name: value for name, value in more.items() if name != "store"}))
        if key not in known:
            known[key] = function(*given, **more)
        return known[key]

    return asked


# A decision searches every sanitizer at one value of each parameter, and at the sizes that its policy asks for: what is
# tried is the page.
SEARCHED = {"k": "10", "l": "2", "t": "0.4", "delta": "2", "epsilon": "1", "miners": "naive Bayes"}

if __name__ == "__main__":
    gc.set_threshold(20_000, 20, 20)  # as in the tests: a collection looks at all that the libraries have
    report.run_notebooks, store.START_SECONDS = run, math.inf
    family, *given = sys.argv[1:]
    if family == "few":
        sys.path.insert(0, str(Path(__file__).parents[1]))  # where `support` is
        from support import few_sanitizers

        few_sanitizers.narrow(setattr)
    quick = profiles.PROFILES["quick"]
    profiles.PROFILES["quick"] = replace(quick, family={**quick.family, **SEARCHED})
    policy_search.search_policy, noise_removal.remove_simulated_noise = map(
        _once, (policy_search.search_policy, noise_removal.remove_simulated_noise)
    )
    with dataset.load_once():
        for one, asked in zip(given[::2], given[1::2], strict=True):
            report.build(one, **json.loads(asked), compare=Ledger.of)
            gc.freeze()  # most of it is the libraries
