"""Render our comment approximately as GitHub does: Markdown as HTML without active content or remote resources."""

from __future__ import annotations

from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from bot.web.views.words import verbatim

_TAGS = {
    *("a", "blockquote", "br", "code", "del", "details", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre"),
    *("strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
LONGEST = 40_000
"""Characters shown; a comment has at most 65,536, and few have a tenth of that."""
CUT = "\n\n*The text is shortened; GitHub has all of it.*\n"


def as_html(markdown: str) -> Markup:
    """Render a comment as HTML of a few harmless elements: no script, style, image, form or foreign attribute.

    The comment was sanitised when it was written; this cleaning does not rely on it (docs/decisions.md).
    """
    shown = markdown if len(markdown) <= LONGEST else markdown[:LONGEST] + CUT
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
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
