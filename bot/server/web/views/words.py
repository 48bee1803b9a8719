"""Formatting of node names, points in time, untrusted text and our comment for pages."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup, escape

from bot.report.sanitise import visible
from nodes.trust.secrets import mask

_LABELS = {
    "supervisor": "Supervisor",
    "investigator": "Investigator",
    "codebase_search": "Code search",
    "web_search": "Web search",
    "critic": "Critic",
    "human_input": "Question",
    "writer": "Writer",
    "tool": "Tool",
    "join": "Join",
    "end": "End",
}
_CODE = Markup("<code>{}</code>")
# Unicode categories without a visible character: controls, formats, surrogates, private and unassigned ones, and line
# separators.
_CLASSES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_TAGS = {
    *("a", "blockquote", "br", "code", "del", "details", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
MAX_COMMENT = 40_000
"""Characters shown; a comment has at most 65,536, and few have a tenth of that."""
CUT = "\n\n*The text is shortened; the full text is on GitHub.*\n"


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time, for a ``<time>`` element."""

    iso: str
    text: str
    """Displayed text, in UTC."""


def moment(at: float | str | None) -> Moment | None:
    """Convert seconds since 1970, or a time as GitHub writes it; None if the time was not recorded (0)."""
    seconds = datetime.fromisoformat(at).timestamp() if isinstance(at, str) else at or 0
    if seconds <= 0:
        return None
    when = datetime.fromtimestamp(seconds, UTC)
    return Moment(when.strftime("%Y-%m-%dT%H:%M:%SZ"), when.strftime("%Y-%m-%d %H:%M"))


def label(node: str) -> str:
    """Return a node's display name."""
    return _LABELS.get(node) or line(node).replace("_", " ")


def line(text: str) -> str:
    """Return untrusted text as one line without invisible characters, secrets masked. The template escapes it."""
    return " ".join(visible(mask(text)).split())


def prose(text: str) -> Markup:
    """Return the same line as HTML, with text between backticks as code."""
    text, *rest = line(text).split("`")
    pieces = [escape(text)]
    for at, piece in enumerate(rest):
        is_code = at % 2 == 0 and at + 1 < len(rest)
        pieces.append(_CODE.format(piece) if is_code else escape("`" * (at % 2 == 0) + piece))
    return Markup("").join(pieces)


def verbatim(text: str) -> str:
    """Return untrusted text unchanged, except that invisible and direction-changing characters are spelled out."""
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in _CLASSES else f"⟨U+{ord(c):04X}⟩" for c in text)


def as_html(markdown: str, longest: int = MAX_COMMENT) -> Markup:
    """Render a comment or an issue as HTML of a few harmless elements: no script, style, image, form or attribute.

    A comment was sanitised when it was written; this cleaning does not rely on it (docs/decisions.md).
    """
    shown = markdown if len(markdown) <= longest else markdown[:longest] + CUT
    # The sanitiser inserts word joiners to disable mentions and commands; ``verbatim`` would spell them out.
    rendered = _reader().render(verbatim(shown.replace("\N{WORD JOINER}", "")))
    clean = nh3.clean(
        rendered,
        tags=_TAGS,
        attributes={"a": {"href"}, "details": {"open"}},
        url_schemes={"https", "http"},
        link_rel="noreferrer noopener nofollow",
        clean_content_tags={"script", "style"},
        strip_comments=True,
    )
    return Markup(clean)  # noqa: S704  cleaned above


@cache
def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    reader.core.ruler.push("below_ours", _lower_headings)
    return reader


def _lower_headings(state: StateCore) -> None:
    """Put the headings of a text below those of the page."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"
