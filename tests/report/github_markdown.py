"""Renders Markdown with GitHub's own parser and lists what would act on GitHub."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from cmarkgfm import markdown_to_html_with_extensions
from cmarkgfm.cmark import Options

_EXTENSIONS = ["autolink", "table", "strikethrough", "tagfilter", "tasklist"]
# GitHub lets raw HTML through the parser and filters it afterwards.
_OPTIONS = Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_GITHUB_PRE_LANG
_OURS = frozenset(
    [
        "p",
        "strong",
        "em",
        "code",
        "pre",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "sub",
        "blockquote",
        "ul",
        "ol",
        "li",
        "input",
        "a",
    ]
)
"""The tags that our own Markdown renders to; any other tag comes from untrusted text."""
_VOID = frozenset({"input", "br", "hr", "img"})
_LIVE = {
    "mention": re.compile(r"@[A-Za-z0-9]"),
    "reference": re.compile(r"(?:#|\bGH-)\d", re.IGNORECASE),
    "commit": re.compile(r"(?<!\w)(?=[0-9a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,40}(?!\w)"),
    "address": re.compile(r"://|www\.", re.IGNORECASE),
    "e-mail": re.compile(r"@[A-Za-z0-9._-]*\.\w"),
    "maths": re.compile(r"\$"),
    "emoji": re.compile(r":(?!\d+:)[a-z0-9_+-]+:", re.IGNORECASE),
}
_PERMALINK = re.compile(r"https?://[\w.:-]+/[\w.-]+/[\w.-]+/blob/[0-9a-f]{40}/[^\s<>]+#L\d+-L\d+")
"""The bare link to a line that leads a report, on an address of ours."""
_MARKER = re.compile(r" triage:(?:report|question|reply|config) [\w.= -]* ")


@dataclass
class _Reader(HTMLParser):
    """Collects the active parts of a rendered comment."""

    own: tuple[str, ...]
    mentions: tuple[str, ...]
    found: list[str] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag not in _OURS or (tag == "input" and values.get("type") != "checkbox"):
            self.found.append(f"html: <{tag}>")
        if tag == "a" and not (values.get("href") or "").startswith(self.own):
            self.found.append(f"link: {values.get('href')}")
        if tag == "pre" and values.get("lang") not in (None, "markdown"):
            self.found.append(f"fence: {values.get('lang')}")
        if tag not in _VOID:
            self.open_tags.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if not self.open_tags or self.open_tags.pop() != tag:
            self.found.append(f"html: </{tag}>")

    def handle_comment(self, data: str) -> None:
        if not _MARKER.fullmatch(data):
            self.found.append(f"comment: {data}")

    def handle_decl(self, decl: str) -> None:
        self.found.append(f"html: <!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.found.append(f"html: <?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.found.append(f"html: <![{data}]>")

    def handle_data(self, data: str) -> None:
        is_permalink = data.startswith(self.own) and _PERMALINK.fullmatch(data) is not None
        if not {"code", "pre"} & set(self.open_tags) and data not in self.mentions and not is_permalink:
            self.found += [f"{kind}: {data.strip()}" for kind, live in _LIVE.items() if live.search(data)]


def render(markdown: str) -> str:
    """Return the HTML that GitHub's parser renders from a comment."""
    html: str = markdown_to_html_with_extensions(markdown, options=_OPTIONS, extensions=_EXTENSIONS)
    return html


def acting(markdown: str, *, own: tuple[str, ...] = (), mentions: tuple[str, ...] = ()) -> list[str]:
    """Return all active parts of a comment: links, mentions, references, images, HTML, maths, emoji.

    Args:
        markdown: the comment as it is posted.
        own: prefixes of addresses that may be linked.
        mentions: complete texts of the intended mentions, such as ``@rita``.
    """
    reader = _Reader(own, mentions)
    reader.feed(render(markdown))
    reader.close()
    return [*reader.found, *(f"html: <{tag}> stays open" for tag in reader.open_tags)]
