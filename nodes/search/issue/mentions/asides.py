"""Reduces an issue's body to the reporter's account: drops form texts, environment sections and version lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.search.issue.mentions.markdown import without_comments

_FENCE = re.compile(r"[ \t]{0,12}(?:```|~~~)")
_HEADING = re.compile(r" {0,3}(?:#{1,6}[ \t]{1,8}(\S.{0,120})|\*\*([^*\n]{2,60})\*\*:?[ \t]{0,8})$")
_BOX = re.compile(r"[ \t]{0,12}[-*+][ \t]{0,4}\[[ xX]\]")
_URL = re.compile(r"https?://\S{1,2000}")
_ENVIRONMENT = re.compile(
    r"\bversions?\b|environment|operating system|^os\b|system info|install|backend|dependenc|jupyter|^browser|checklist"
    r"|extra tools|platform|extensions|\bsearch(ed)?\b|contribut|willing|\bterms\b|code of conduct|prerequisites",
    re.IGNORECASE,
)
"""Headings of form sections that describe the environment, or that confirm the form was read."""
_VERSION = re.compile(
    r"(?: {0,3}[>*`-]{1,2}[ \t]{1,2}| {0,3})[\w.()-][\w.() -]{0,29}[:=]{1,2}[ \t]{0,8}v?\d{1,6}(\.\d{1,6}){1,4}"
)
_LONGEST = 2_000  # characters of a line in which a version or a heading is searched


def without_asides(body: str) -> str:
    """Drop a form's comments, headings and check boxes, sections about the environment, version lines and links.

    Fenced code stays unchanged, except in those sections.
    """
    return "\n".join(_reported_lines(without_comments(body)))


def _reported_lines(body: str) -> Iterator[str]:
    fenced = in_environment = False
    for line in body.split("\n"):
        is_fence = bool(_FENCE.match(line))
        # A fence inside another one is not tracked: here a wrong guess only adds or drops words.
        fenced ^= is_fence
        heading = None if fenced or is_fence else _HEADING.match(line[:_LONGEST])
        if heading:
            in_environment = bool(_ENVIRONMENT.search(heading[1] or heading[2]))
        # Fences of a dropped section stay, so that later lines are split into prose and code correctly.
        elif is_fence or (not in_environment and fenced):
            yield line
        elif not in_environment and not _BOX.match(line) and not _VERSION.match(line[:_LONGEST]):
            yield _URL.sub(" ", line)
