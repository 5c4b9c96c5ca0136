"""The Java machine that Weka's miners share, with a limit of processor time for each call."""

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

DEBIAN = Path("/usr/share/java/weka.jar")  # the file of the package `weka`
_starting = threading.Lock()
_running: "dict[str, Machine]" = {}
Jar = str | os.PathLike[str] | None


class Unavailable(ResourceError, RuntimeError):
    """The error if Java, Weka's jar, jpype1 or a miner is absent; the message states how to get the missing part."""


class DataRefused(UsageError):
    """The error of a miner that does not accept the data, with Weka's message."""


class Unfinished(ResourceError, RuntimeError):
    """The error of a miner that exceeded its processor time or memory; averages over miners exclude such a miner."""


def find_jar(jar: Jar = None) -> Path:
    """Return the path of Weka's jar: `jar`, or else the environment variable WEKA_JAR, or else Debian's path.

    Raises Unavailable if there is no file at this path.
    """
    path = jar or os.environ.get("WEKA_JAR") or DEBIAN
    if not Path(path).is_file():
        raise Unavailable(
            f"there is no Weka jar at {path}. Try `apt-get install weka`, which installs {DEBIAN}, or name another jar "
            "in the environment variable WEKA_JAR."
        )
    return Path(path).resolve()


def version(jar: Jar = None) -> str:
    """Return the version of Weka in the jar, such as "3.6.14"."""
    return read_jar(find_jar(jar))[0]


def list_missing_requirements(jar: Jar = None) -> str:
    """Return, as a text, the missing requirements of Weka's miners and how to get them; empty if none is missing."""
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
    """The running Java machine: classes of jpype by name, and the jar with which the machine was started."""

    def __init__(self, jar: Path) -> None:
        import jpype

        self.jar, self.JClass, self.JArray = jar, jpype.JClass, jpype.JArray
        self.JString, self.JDouble, self.JException = jpype.JString, jpype.JDouble, jpype.JException
        if not jpype.isJVMStarted():
            flags = "-Xmx2g", "-Djava.awt.headless=true"
            jpype.startJVM(*flags, classpath=[str(jar)], convertStrings=False, interrupt=False)
            # Some miners print their progress.
            quiet = self.JClass("java.io.PrintStream")(self.JClass("java.io.OutputStream").nullOutputStream())
            self.JClass("java.lang.System").setOut(quiet)
            self.JClass("java.lang.System").setErr(quiet)
        else:
            jpype.addClassPath(str(jar))


def start_machine(wanted: str) -> Machine:
    """Return the Java machine of this process with the requested version of Weka; start it first if necessary.

    Raises Unavailable if a requirement is missing, if the process runs another jar, or if the jar has another version.
    """
    with _starting:
        if lacks := list_missing_requirements():
            raise Unavailable(f"Weka's miners cannot run here: {lacks}")
        jar = find_jar()
        java = _running.get("java") or Machine(jar)
        _running["java"] = java
    if java.jar != jar:
        raise Unavailable(
            f"this process runs Weka with {java.jar}, but {jar} is requested, and a process has only one Java machine. "
            "Use one jar, or another process."
        )
    if version(jar) != wanted:
        raise Unavailable(
            f"the miner needs Weka {wanted}, but {jar} is Weka {version(jar)}. Make the miner again, or name a jar of "
            "that version in the environment variable WEKA_JAR."
        )
    return java


@cache
def read_jar(jar: Path) -> tuple[str, frozenset[str]]:
    """Return the version of Weka's jar and its classes below weka.classifiers. Raises Unavailable for other files."""
    try:
        with zipfile.ZipFile(jar) as archive:
            stated = archive.read("weka/core/version.txt").decode().strip().replace("-", ".")
            classes = "\n".join(archive.namelist())
    except (zipfile.BadZipFile, KeyError) as error:
        raise Unavailable(
            f"{jar} is not a jar of Weka: {error}. Name another jar in the environment variable WEKA_JAR."
        ) from None
    found = re.findall(r"^weka/classifiers/(.+)\.class$", classes, re.MULTILINE)
    return stated, frozenset(each.replace("/", ".") for each in found)


def call_with_limit(java: Machine, miner: Any, *call: Any) -> tuple[Any, float]:
    """Return the value of a call (object, method name, arguments) and its processor time with a precision of 0.1 s.

    When the call has used the remaining processor time of `miner`, the function stops the call and raises Unfinished.
    The call runs in a separate Java thread, because a Java thread that is also a Python thread does not survive a stop.
    """
    expression = java.JClass("java.beans.Expression")(call[0], call[1], list(call[2:]))
    run = java.JClass("java.beans.EventHandler").create(java.JClass("java.lang.Runnable"), expression, "execute")
    task = java.JClass("java.util.concurrent.FutureTask")(run, None)
    thread = java.JClass("java.lang.Thread")(task)
    thread.setDaemon(True)
    clock = java.JClass("java.lang.management.ManagementFactory").getThreadMXBean()
    thread.start()
    number, pause, spent = thread.getId(), 0.001, 0.0
    try:
        while miner.spent + spent <= miner.seconds and not task.isDone():
            time.sleep(pause)  # in Python, so that an interrupt is noticed
            pause = min(1.1 * pause, 0.1)
            spent = max(spent, clock.getThreadCpuTime(number) / 1e9)  # it is -1 once the thread has ended
    except BaseException:
        _stop(java, thread)  # otherwise it would continue unnoticed
        raise
    if miner.spent + spent > miner.seconds:
        raise Unfinished(
            f"the miner '{miner.scheme}' did not finish within {miner.seconds:g} CPU seconds{_stop(java, thread)}"
        )
    try:
        task.get()
    except java.JException as error:
        raise translate_error(java, miner.scheme, error) from None
    return expression.getValue(), spent


def _stop(java: Machine, thread: Any) -> str:
    """Stop a Java thread, and return the end of the sentence that reports whether the thread was stopped."""
    for _ in range(20):  # some code swallows the first stop
        try:
            thread.stop()
        except java.JException:  # removed in Java 20
            return ". This Java cannot stop it, so it continues until Python ends. Try Java 17."
        thread.join(500)
        if not thread.isAlive():
            return "."
    return " and could not be stopped: it continues until Python ends."


def translate_error(java: Machine, name: str, error: Any) -> Exception:
    """Return the Python error to raise for the innermost cause of a Java error."""
    while error.getCause() is not None:
        error = error.getCause()
    kind = str(error.getClass().getSimpleName())
    if kind in ("OutOfMemoryError", "StackOverflowError"):
        return Unfinished(f"the miner '{name}' ran out of memory ({kind}).")
    if kind in ("ClassNotFoundException", "NoClassDefFoundError"):
        return Unavailable(f"the miner '{name}' needs {error.getMessage()}, which is not in {java.jar}. Leave it out.")
    return DataRefused(
        f"the miner '{name}' refuses these data: {error}. Leave it out, and report next to the result that it is "
        "missing."
    )
