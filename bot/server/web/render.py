"""Render templates and untrusted text to HTML, and serve static files under addresses with a hash."""

import hashlib
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote

import nh3
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

from bot.errors import RetryableError
from bot.report.explain import confidence
from bot.report.sanitise import split_code, visible
from bot.report.words import percent, span
from bot.runs.promise import wilson
from bot.store.pages.rows import Outcome, RunRow
from nodes.guards import MEANINGS
from nodes.judgements import NodeName
from nodes.trust.secrets import mask

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
# The address contains a hash of the content, so changed content has another address.
_FOR_EVER = "public, max-age=31536000, immutable"
NAVIGATION: tuple[tuple[str, str], ...] = (("/", "Overview"), ("/runs", "Runs"), ("/repositories", "Repositories"))
"""(address, name) of the navigation links that logged-in users see on every page."""
_WHOLE = 24
"""Characters at the end of a path that stay on one line, so that no line break splits a short name or its ending."""
_MESSAGES = {
    401: "Log in first.",
    403: "You are not allowed to do this.",
    404: "Page not found, or you may not see it.",
    405: "This method is not allowed here.",
    410: "This page is no longer available.",
    429: "Too many attempts. Wait a few minutes.",
    503: "The service is temporarily unavailable. Try again in a moment.",
}
_OURS = "Internal error. See the server's log."
_NODES = (*get_args(NodeName), "supervisor", "tool", "join")
_LABELS = {name: name.replace("_", " ").capitalize() for name in _NODES}
_LABELS |= {"codebase_search": "Code search", "human_input": "Question"}
_CODE = Markup("<code>{}</code>")
_TIME, _AGO = Markup('<time datetime="{}">{} UTC</time>'), Markup('<time datetime="{}" data-ago>{} UTC</time>')
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
_TONES = {"running": "warn", "waiting": "warn", "finished": "good", "stopped": "soft", "failed": "bad"}
OUTCOMES: Mapping[Outcome, str] = {
    "right": "right",
    "wrong": "wrong",
    "awaiting": "awaiting fix",
    "unknown": "fix not found",
    "unclaimed": "no claim",
}
"""The outcomes of reports, in words."""
ASSETS = "/assets/{hash}/{name}"
FAILURES = (HTTPException, RetryableError, Exception)
"""The exceptions that ``answer_failure`` handles."""


@cache
def asset(name: str) -> str:
    """Return the address of a file in ``static/``. Browsers may cache it without expiry."""
    return f"/assets/{_files()[name][0]}/{name}"


async def serve_asset(request: Request) -> Response:
    """Serve a file of ``static/``; assets contain no private data, so they need no login."""
    known, body = _files().get(request.path_params["name"], ("", b""))
    # A wrong hash gets 404: browsers would cache other content under this address without expiry.
    if not known or request.path_params["hash"] != known:
        return Response("not found\n", 404, media_type="text/plain")
    kind = _KINDS[Path(request.path_params["name"]).suffix]
    return Response(body, headers={"cache-control": _FOR_EVER}, media_type=kind)


async def healthz(_request: Request) -> Response:
    """Report that the process responds."""
    return PlainTextResponse("ok\n")


@cache
def _files() -> dict[str, tuple[str, bytes]]:
    """Map each file name to (hash, content). Files are read once per process."""
    found = {path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _KINDS}
    return {name: (hashlib.sha256(body).hexdigest()[:16], body) for name, body in found.items()}


def render(
    request: Request, template: str, *, status: int = 200, headers: dict[str, str] | None = None, **context: Any
) -> HTMLResponse:
    """Render a template of ``templates/``.

    The template gets ``viewer`` (None without a login), ``navigation``, ``here`` (the path) and ``asset(name)`` in
    addition to the given context. The Content-Security-Policy forbids inline styles and scripts, including ``style=``
    attributes.
    """
    viewer = getattr(request.state, "viewer", None)
    shown = {"viewer": viewer, "navigation": NAVIGATION, "here": request.url.path, **context}
    return HTMLResponse(environment().get_template(template).render(shown), status, headers)


def _seen(value: Any) -> Any:
    """Remove invisible and direction-changing characters from text, which could make a page display something false."""
    return visible(value) if type(value) is str else value


def share(part: int, whole: int, nothing: str = "—") -> str:
    """Return a fraction as a percentage; ``nothing`` without cases."""
    return percent(part / whole) if whole else nothing


def between(right: int, cases: int) -> str:
    """Return the interval of a fraction at 95 % in words; empty without cases."""
    low, high = wilson(right, cases)
    return f"{low:.0%} to {high:.0%}" if cases else ""


def address(run: RunRow) -> str:
    """Return the path of a run's page."""
    return f"/runs/{quote(run.owner)}/{quote(run.name)}/{run.issue}/{run.number}"


def file_name(path: str) -> Markup:
    """Return a path that breaks after slashes, and before its last characters if the file's name is long."""
    *folders, name = visible(path).split("/")
    cut = 0 if len(name) <= _WHOLE else len(name) - _WHOLE // 2
    whole = Markup('{}<span class="whole">{}</span>').format(name[:cut], name[cut:])
    return Markup("/<wbr>").join([*map(escape, folders), whole])


@cache
def environment() -> Environment:
    """Return the Jinja environment: autoescape is always on, and an undefined variable is an error."""
    # ``finalize`` applies to every value in every template, so that no template can forget it.
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=_seen,
    )
    made.globals |= {"asset": asset, "share": share, "between": between}
    made.globals |= {"tones": _TONES, "outcomes": OUTCOMES, "guards": MEANINGS}
    made.filters |= {"file": file_name, "prose": prose, "line": line, "label": label, "moment": moment}
    made.filters |= {"address": address, "confidence": confidence, "span": span}
    return made


def wants_page(request: Request) -> bool:
    """Return whether the client is a browser that accepts HTML, rather than a program."""
    return "text/html" in request.headers.get("accept", "")


def fault(request: Request, status: int, headers: dict[str, str] | None = None) -> Response:
    """Return the response for a status: an HTML page for a browser, JSON for other clients."""
    message = _MESSAGES.get(status, _OURS if status >= 500 else "The request is not valid.")
    if wants_page(request):
        return render(request, "fault.html", status=status, headers=headers, code=status, message=message)
    return JSONResponse({"error": message}, status, headers)


async def answer_failure(request: Request, error: Exception) -> Response:
    """Answer an error; an exception handler for Starlette."""
    if not isinstance(error, HTTPException):
        return fault(request, 503 if isinstance(error, RetryableError) else 500)
    # These statuses have no body.
    if error.status_code in (204, 304):
        return Response(status_code=error.status_code, headers=error.headers)
    return fault(request, error.status_code, dict(error.headers or {}))


def moment(at: float | str | None, *, ago: bool = False) -> Markup:
    """Return a time (in seconds since 1970, or as GitHub writes it) as an element, with ``ago`` as "3 hours ago"."""
    seconds = datetime.fromisoformat(at).timestamp() if isinstance(at, str) else at or 0
    if seconds <= 0:
        return Markup('<span class="soft">unknown</span>')
    when = datetime.fromtimestamp(seconds, UTC)
    return (_AGO if ago else _TIME).format(f"{when:%Y-%m-%dT%H:%M:%SZ}", f"{when:%Y-%m-%d %H:%M}")


def label(node: str) -> str:
    """Return a node's display name."""
    return _LABELS.get(node) or line(node).replace("_", " ")


def line(text: str) -> str:
    """Return untrusted text as one line without invisible characters, secrets masked. The template escapes it."""
    return " ".join(visible(mask(text)).split())


def prose(text: str) -> Markup:
    """Return the same line as HTML, with text between backticks as code."""
    pieces = split_code(line(text))
    return Markup("").join(_CODE.format(piece) if is_code else escape(piece) for is_code, piece in pieces)


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
