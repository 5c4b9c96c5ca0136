"""The Java machine that Weka's miners share: found, started, and made to keep to a limit of processor time."""

import os
import re
import threading
import time
import zipfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from privnb.runtime.errors import ResourceError, UsageError

DEBIAN = Path("/usr/share/java/weka.jar")  # where the package `weka` puts it
_starting = threading.Lock()
_running: "dict[str, Machine]" = {}
Jar = str | os.PathLike[str] | None


class Unavailable(ResourceError, RuntimeError):
    """Java, Weka's jar, jpype1 or one of Weka's miners is not there; the message says which, and how to get it."""


class Refused(UsageError):
    """A miner that does not take such data, in Weka's own words."""


class Unfinished(ResourceError, RuntimeError):
    """A miner that ran out of its processor time or of memory: it has no guesses, and belongs to no average."""


def find_jar(jar: Jar = None) -> Path:
    """Path of Weka's jar: `jar`, else the environment variable WEKA_JAR, else Debian's. Raises Unavailable."""
    asked = jar or os.environ.get("WEKA_JAR") or DEBIAN
    if not Path(asked).is_file():
        raise Unavailable(
            f"there is no Weka jar at {asked}. `apt-get install weka` puts one at {DEBIAN}; any other is named by the "
            "environment variable WEKA_JAR."
        )
    return Path(asked).resolve()


def version(jar: Jar = None) -> str:
    """The version that the jar states, as "3.6.14"."""
    return read(find_jar(jar))[0]


def missing(jar: Jar = None) -> str:
    """What Weka's miners lack here and how to get it, in words; "" if nothing."""
    lacks = []
    if find_spec("jpype") is None:
        lacks.append('there is no jpype1: pip install "privnb[weka]".')
    if which("java") is None and "JAVA_HOME" not in os.environ:
        lacks.append("there is no Java: apt-get install default-jre-headless, or set JAVA_HOME.")
    try:
        version(jar)
    except Unavailable as error:
        lacks.append(str(error))
    return " ".join(lacks)


class Machine:
    """The running Java machine: jpype's names, and the jar that it was started with."""

    def __init__(self, jar: Path) -> None:
        import jpype

        self.jar, self.JClass, self.JArray = jar, jpype.JClass, jpype.JArray
        self.JString, self.JDouble, self.JException = jpype.JString, jpype.JDouble, jpype.JException
        if not jpype.isJVMStarted():
            flags = "-Xmx2g", "-Djava.awt.headless=true"
            jpype.startJVM(*flags, classpath=[str(jar)], convertStrings=False, interrupt=False)
            # Some miners print what they do.
            quiet = self.JClass("java.io.PrintStream")(self.JClass("java.io.OutputStream").nullOutputStream())
            self.JClass("java.lang.System").setOut(quiet)
            self.JClass("java.lang.System").setErr(quiet)
        else:
            jpype.addClassPath(str(jar))


def machine(wanted: str) -> Machine:
    """The one Java machine of this process, started on the first call, with Weka `wanted`. Raises Unavailable."""
    with _starting:
        if lacks := missing():
            raise Unavailable(f"Weka's miners cannot run here: {lacks}")
        jar = find_jar()
        java = _running.get("java") or Machine(jar)
        _running["java"] = java
    if java.jar != jar:
        raise Unavailable(
            f"this process runs Weka with {java.jar}, and {jar} was asked for. A process has one Java machine: "
            "use one jar, or another process."
        )
    if version(jar) != wanted:
        raise Unavailable(
            f"the miner is of Weka {wanted}, and {jar} is Weka {version(jar)}. Make the miner anew, or name that "
            "version's jar in the environment variable WEKA_JAR."
        )
    return java


@cache
def read(jar: Path) -> tuple[str, frozenset[str]]:
    """The version that a jar states, and what it has below weka.classifiers. Raises Unavailable for another file."""
    try:
        with zipfile.ZipFile(jar) as archive:
            stated = archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
            classes = "\n".join(archive.namelist())
    except (zipfile.BadZipFile, KeyError) as error:
        raise Unavailable(f"{jar} is no jar of Weka: {error}. Name another in WEKA_JAR.") from None
    found = re.findall(r"^weka/classifiers/(.+)\.class$", classes, re.MULTILINE)
    return stated, frozenset(each.replace("/", ".") for each in found)


def limited(java: Machine, miner: Any, *call: Any) -> tuple[Any, float]:
    """The value of a call (object, name of its method, arguments), and the processor time it took, to 0.1 s.

    It is stopped once it has used what `miner` has left, which raises Unfinished. The thread is Java's alone, from
    first to last: a thread that Python takes part in does not survive its end.
    """
    asked = java.JClass("java.beans.Expression")(call[0], call[1], list(call[2:]))
    run = java.JClass("java.beans.EventHandler").create(java.JClass("java.lang.Runnable"), asked, "execute")
    task = java.JClass("java.util.concurrent.FutureTask")(run, None)
    thread = java.JClass("java.lang.Thread")(task)
    thread.setDaemon(True)
    clock = java.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
    thread.start()
    number, pause, spent = thread.getId(), 0.001, 0.0
    try:
        while miner.spent + spent <= miner.seconds and not task.isDone():
            time.sleep(pause)  # in Python, where an interrupt is heard
            pause = min(1.1 * pause, 0.1)
            spent = max(spent, clock.getThreadCpuTime(number) / 1e9)  # -1 once it has ended
    except BaseException:
        _stop(java, thread)  # or it would go on unseen
        raise
    if miner.spent + spent > miner.seconds:
        raise Unfinished(
            f"the miner '{miner.scheme}' did not finish within {miner.seconds:g} CPU seconds{_stop(java, thread)}"
        )
    try:
        task.get()
    except java.JException as error:
        raise explained(java, miner.scheme, error) from None
    return asked.getValue(), spent


def _stop(java: Machine, thread: Any) -> str:
    """End a Java thread; the end of the sentence that reports it."""
    for _ in range(20):  # some code swallows the first
        try:
            thread.stop()
        except java.JException:  # Java 20 took this away
            return ". This Java cannot stop it, and it runs on until Python ends: use Java 17."
        thread.join(500)
        if not thread.isAlive():
            return "."
    return ", nor stop early: it runs on until Python ends."


def explained(java: Machine, name: str, error: Any) -> Exception:
    """A Java error, inside those of the calls around it, as the Python one to raise."""
    while error.getCause() is not None:
        error = error.getCause()
    kind = str(error.getClass().getSimpleName())
    if kind in ("OutOfMemoryError", "StackOverflowError"):
        return Unfinished(f"the miner '{name}' ran out of memory ({kind}).")
    if kind in ("ClassNotFoundException", "NoClassDefFoundError"):
        return Unavailable(f"the miner '{name}' needs {error.getMessage()}, which is not in {java.jar}. Leave it out.")
    return Refused(f"the miner '{name}' refuses these data: {error}. Leave it out, and name it beside the result.")
