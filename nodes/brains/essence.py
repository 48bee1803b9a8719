"""Shorten the text of an issue: what carries no finding goes first, and the middle only if that is not enough."""

from __future__ import annotations

import re

from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import squeeze

_ENVIRONMENT = re.compile(
    r"(?i)^\W{0,8}(?:(?:my |your )?environment|system info(?:rmation)?|versions?|version information|checklist"
    r"|output of \S{1,40} ?versions?\S{0,8}|installed packages|pip (?:freeze|list)|dependencies|platform|prerequisites"
    r"|before (?:opening|submitting)[\w ]{0,40})\W{0,8}$"
)
_HEADING = re.compile(r"^(?:#{1,6}\s|\*\*[^*\n]{1,80}\*\*\s*$)")
_PACKAGE = re.compile(
    r"^[\s|*>-]{0,8}[\w.\[\]-]{2,40}\s{0,20}(?:==|:|\||\s)\s{0,20}v?\d+(?:\.\d+){1,4}[\w.+-]{0,20}[\s|]{0,8}$"
)
_BOX = re.compile(r"^\s{0,8}[-*]\s{0,3}\[[ xX]\]\s")
_LIBRARY = re.compile(
    r"(?:site-packages|dist-packages|node_modules|/usr/lib/|/usr/local/go/|/go/pkg/mod/|/\.cargo/registry|/rustc/"
    r"|\(node:|\(internal/|at (?:java|javax|sun|jdk|kotlin|org\.junit|org\.springframework)\.)"
)
_FRAME = re.compile(r"^\s{1,12}(?:File \"|at )|^\s{0,8}/\S{3,200}:\d")
_KEPT_PACKAGES = 3


def essence(text: str, tokens: int) -> str:
    """Return a text of at most about this many tokens.

    Comments of templates, blocks about the environment and frames of libraries go first, only as far as needed.
    """
    for step in (_without_comments, _without_environment, _without_libraries):
        if estimate(text) <= tokens:
            return text
        text = step(text)
    return squeeze(text, tokens)


def _without_comments(text: str) -> str:
    # Searched, because a comment may contain any sign, and an expression for it would not be linear.
    kept, at = list[str](), 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[at:start])
        at = end + 3
    return re.sub(r"\n{3,}", "\n\n", "".join((*kept, text[at:])))


def _without_environment(text: str) -> str:
    """Drop sections about the environment, lists of packages beyond a few, and boxes to tick."""
    kept, skipping, packages = list[str](), False, 0
    for line in text.split("\n"):
        if _HEADING.match(line) or _ENVIRONMENT.match(line):
            skipping = bool(_ENVIRONMENT.match(line.strip("#* \t")))
        packages = packages + 1 if _PACKAGE.match(line) else 0
        if not (skipping or packages > _KEPT_PACKAGES or _BOX.match(line)):
            kept.append(line)
    return "\n".join(kept)


def _without_libraries(text: str) -> str:
    """Drop the frames of libraries, with the line of code that follows each in a trace of Python."""
    kept, inside = list[str](), False
    for line in text.split("\n"):
        frame = bool(_FRAME.match(line))
        inside = (frame and bool(_LIBRARY.search(line))) or (inside and not frame and line.startswith("    "))
        if not inside:
            kept.append(line)
    return "\n".join(kept)
