"""Split an issue into parts that are classified separately: a person's prose, a template's text, and code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.search.mentions.markdown import split_blocks, without_comments

MAX_TITLE, MAX_BODY, MAX_CODE = 300, 12_000, 3_000
"""The maximum numbers of characters read; the beginning of an issue shows its kind."""
_HEADING = re.compile(r"\s{0,3}(#{1,6}\s|\*\*[^*\n]{1,120}\*\*:?\s*$|[^\n]{3,60}:\s*$)")
_TICK_BOX = re.compile(r"\s{0,9}[-*+]\s?\[[ xX]\]")
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<img[^>\n]{0,500}>")
_LINK = re.compile(r"https?://[^\s)>]+")


@dataclass(frozen=True, slots=True)
class Parts:
    """An issue's text in lower case, split by author and purpose."""

    title: str
    prose: str
    """Outside code, without headings, tick boxes, template comments, images and links."""
    code: str
    """The content of fenced blocks."""
    whole: str
    """The body without changes except lower case, template text included."""


def parts_of(title: str, body: str) -> Parts:
    """Split the beginning of an issue into its parts, in time linear in the text read."""
    whole = body[:MAX_BODY].lower()
    prose, blocks = split_blocks(without_comments(whole))
    text = "\n".join(line for line in prose.split("\n") if not _by_a_template(line))
    return Parts(
        title=title[:MAX_TITLE].lower(),
        prose=_LINK.sub(" ", _IMAGE.sub(" ", text)),
        code="\n".join(blocks)[:MAX_CODE],
        whole=whole,
    )


def _by_a_template(line: str) -> bool:
    """Is it a heading, the label of a field or a checkbox?"""
    return bool(_HEADING.match(line) or _TICK_BOX.match(line)) or line.strip() == "_no response_"
