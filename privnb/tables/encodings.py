"""Detection of the encoding of a text file: UTF-8 and UTF-16 are certain, and any other encoding is a proposal.

The library charset-normalizer ranks the encodings by how much the cells that are not ASCII then look like words. If
several encodings fit equally well but result in different letters, the owner of the file chooses an encoding.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from privnb.runtime.errors import UsageError

# Encodings that common programs write; of equally good ones, the more likely comes first: Western and Central Europe,
# Cyrillic, Greek,
# Turkish, Japanese, traditional and simplified Chinese, Korean.
KNOWN = (
    "cp1252", "cp1250", "iso8859_2", "iso8859_15", "cp1251", "koi8_r", "iso8859_5", "cp1253", "cp1254", "cp932",
    "euc_jp", "big5", "gb18030", "cp949",
)  # fmt: skip
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
CELL = re.compile(rb"[^,;\t\n\r\"\0]*[\x80-\xff][^,;\t\n\r\"\0]*")  # "|" is half a letter in some encodings
WORD = re.compile(rb"[\x80-\xff]+")
LOOKED_AT = 4_000  # the number of distinct cells that are checked
CHAOS, COHERENCE = 0.02, 0.05  # minimum differences by which one encoding fits better than another
ENOUGH = 2_000  # the number of bytes for a reliable ranking
# Words that mix Latin letters with those of another script.
OTHER = r"[\u0370-\u052f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9f]"
MIXED = re.compile(rf"[a-zA-Z]{OTHER}|{OTHER}[a-zA-Z]")
FEW = 6  # bytes that are not ASCII; if there are fewer, the first encoding is not excluded
SOME = 0.05  # the share of words that may be valid UTF-8 by chance in another encoding


def is_text_encoding(name: object) -> bool:
    """Return whether Python has a text encoding with this name."""
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except LookupError:
        return False


def check_encoding_name(encoding: object) -> None:
    """Raise UsageError unless `encoding` is the name of a text encoding."""
    if not is_text_encoding(encoding):
        raise UsageError(
            f"`encoding` must be a text encoding that Python knows, such as cp1252 or shift_jis; got {encoding!r}."
        )


class Proposal(NamedTuple):
    """A proposed encoding, and the other encodings that fit equally well but result in different letters."""

    encoding: str
    others: tuple[str, ...] = ()


def propose_encoding(pieces: Callable[[], Iterator[bytes]], fits: Callable[[str], bool]) -> Proposal | None:
    """Return a proposed encoding for a file that is not UTF-8.

    The result is None if the file seems to mix UTF-8 with another encoding.

    Parameters
    ----------
    pieces
        A function that yields the bytes of the file in pieces.
    fits
        A function that returns whether the whole file can be decoded in an encoding.
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
    """Return the encodings in which the cells look most like words, with the decoded text of the cells.

    Common encodings come first.
    """
    from charset_normalizer import from_bytes

    whole = b"\n".join(cells)
    enough = b"\n".join([whole] * (1 + ENOUGH // (1 + len(whole))))  # ranks of a few words are unreliable
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
