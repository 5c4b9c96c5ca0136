"""The script of live charts: Vega, Vega-Lite and Vega-Embed, bundled with the code that calls these libraries."""

import contextlib
import hashlib
from importlib import metadata, util
from pathlib import Path

from privnb.runtime.temporary import atomic_write

KEPT = Path(util.cache_from_source(__file__)).parent


def bundle(script: str) -> str:
    """Return one text that contains a script and all libraries that the script calls, without imports.

    The bundling takes two seconds, so the text is kept next to the compiled modules of Python if this folder is
    writable.
    """
    what = f"{metadata.version('vl-convert-python')}\n{script}"
    kept = KEPT / f"vega-{hashlib.sha256(what.encode()).hexdigest()[:16]}.js"
    with contextlib.suppress(OSError):
        return kept.read_bytes().decode()
    import vl_convert

    text = vl_convert.javascript_bundle(script)
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(kept, text)
    return text
