"""The encoding of a text file that nobody has stated: UTF-8 or UTF-16 are certain, any other one is a proposal.

charset-normalizer ranks the encodings in which the cells that are not ASCII look like words. Several of them may fit
as well and read other letters; their owner says then which one it is.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from privnb.runtime.errors import UsageError

# What owners' programs save, the more likely of equally good ones first: Western and Central Europe, Cyrillic, Greek,
# Turkish, Japanese, traditional and simplified Chinese, Korean.
KNOWN = (
    "cp1252", "cp1250", "iso8859_2", "iso8859_15", "cp1251", "koi8_r", "iso8859_5", "cp1253", "cp1254", "cp932",
    "euc_jp", "big5", "gb18030", "cp949",
)  # fmt: skip
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CELL = re.compile(rb"[^,;\t\n\r\"\0]*[\x80-\xff][^,;\t\n\r\"\0]*")  # | is half a letter in some encodings
WORD = re.compile(rb"[\x80-\xff]+")
LOOKED_AT = 4_000  # different cells
CHAOS, COHERENCE = 0.02, 0.05  # by which two encodings differ at least if one fits better
ENOUGH = 2_000  # bytes
# Latin letters beside those of another script, in a word.
OTHER = r"[\u0370-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]"
MIXED = re.compile(rf"[a-zA-Z]{OTHER}|{OTHER}[a-zA-Z]")
FEW = 6  # bytes that are not ASCII: of fewer, the first encoding is not ruled out
SOME = 0.05  # of the words, which are UTF-8 by chance in another encoding


def is_text_encoding(name: object) -> bool:
    """Return whether Python knows a text encoding of this name."""
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False


def check(encoding: object) -> None:
    """Raise ValueError for what is not the name of a text encoding."""
    if not is_text_encoding(encoding):
        raise UsageError(
            f"encoding must be a text encoding that Python knows, such as cp1252 or shift_jis; got {encoding!r}."
        )


class Proposal(NamedTuple):
    """An encoding, and the others in which the file reads as well, with other letters."""

    encoding: str
    others: tuple[str, ...] = ()


def proposed(pieces: Callable[[], Iterator[bytes]], fits: Callable[[str], bool]) -> Proposal | None:
    """Propose the encoding of a file that is not UTF-8; None if it seems to have two, of which one is UTF-8.

    Parameters
    ----------
    pieces
        Gives the bytes of the file, a piece at a time.
    fits
        Whether the whole file can be decoded in an encoding.
    """
    cells = [*dict.fromkeys(islice(chain.from_iterable(map(CELL.findall, pieces())), 50 * LOOKED_AT))][:LOOKED_AT]
    texts = _likeliest(cells, fits) or {name: "" for name in KNOWN[:1] if fits(name)}
    best = next(iter(texts), "")
    words = [word for cell in cells for word in WORD.findall(cell)]
    utf_8 = codecs.getincrementaldecoder("utf-8")("ignore")
    if (
        not best
        or sum(map(_is_utf_8, words)) > SOME * len(words)
        or (best == KNOWN[0] and not all(utf_8.decode(piece).isascii() for piece in pieces()))
    ):
        return None
    return Proposal(best, tuple(name for name, text in texts.items() if text != texts[best]))


def _likeliest(cells: list[bytes], fits: Callable[[str], bool]) -> dict[str, str]:
    """The encodings in which the cells look most like words, and what they read; the more usual ones first."""
    from charset_normalizer import from_bytes

    whole = b"\n".join(cells)
    enough = b"\n".join([whole] * (1 + ENOUGH // (1 + len(whole))))  # of a few words the ranks are chance
    found = from_bytes(enough, steps=20, chunk_size=1024, cp_isolation=[*KNOWN], threshold=0.5, language_threshold=0.0)
    ranks, texts = {}, {}
    for match in found:
        for name in match.could_be_from_charset:
            texts[name] = whole.decode(name)
            mixed = sum(map(bool, map(MIXED.search, texts[name].split("\n")))) / len(cells)
            ranks[name] = match.chaos + mixed, -match.coherence
    if sum(map(len, WORD.findall(whole))) < FEW:
        ranks[KNOWN[0]], texts[KNOWN[0]] = min(ranks.values(), default=(0, 0)), whole.decode(KNOWN[0], "replace")
    kept: list[str] = []
    for name in sorted(ranks, key=ranks.__getitem__):
        chaos, coherence = np.subtract(ranks[name], ranks[kept[0]]) if kept else (0, 0)
        if chaos <= CHAOS and coherence <= COHERENCE and fits(name):
            kept.append(name)
    return {name: texts[name] for name in KNOWN if name in kept}


def _is_utf_8(word: bytes) -> bool:
    try:
        word.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
