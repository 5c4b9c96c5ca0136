"""The code of compiled templates, which all environments of a process with the same syntax and filters share."""

import functools
from types import CodeType

import jinja2
from jinja2.bccache import Bucket


class TemplateCode(jinja2.BytecodeCache):
    """Keep the code of each template in memory, so that a second environment does not compile the template again."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket with the code of its template, if the template was compiled before."""
        bucket.code = self.known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of the bucket's template."""
        self.known[bucket.key, bucket.checksum] = bucket.code


@functools.cache
def share_code(kind: str, language: str) -> TemplateCode:
    """Return the code that all environments of one kind and language share.

    Jinja applies filters to constants when it compiles a template. Environments may therefore share code only if their
    filters are equal; a filter that differs between them must be marked with `jinja2.pass_context`, because Jinja
    applies such a filter each time that the template is used.
    """
    return TemplateCode()
