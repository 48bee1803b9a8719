"""Convert outside results to evidence: bounded, without invisible characters, with a locator that leads back."""

import ipaddress
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from nodes.evidence import MAX_QUOTE, Evidence, EvidenceKind, Locator
from nodes.sources.protocol import BEST_SCORE

_LISTS = ("results", "result", "items", "documents", "rows", "matches", "hits", "data", "records", "issues")
_TITLES, _TEXTS = ("title", "name", "heading"), ("text", "content", "snippet", "body", "excerpt", "description")
_URLS, _IDS = ("url", "link", "html_url", "uri", "source", "href"), ("id", "path", "key", "file", "document_id")
_MAX_URL, _MAX_ID, _DEEPEST = 500, 80, 6
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_PRIVATE = re.compile(r"(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp)\.?$", re.IGNORECASE)


class Received(NamedTuple):
    """One result as received."""

    text: str
    title: str = ""
    url: str = ""
    id: str = ""


def as_evidence(results: Iterable[Received], kind: EvidenceKind, source: str, limit: int) -> tuple[Evidence, ...]:
    """Return at most ``limit`` distinct results as evidence, best first; those without an address name their source."""
    found: dict[str, Evidence] = {}
    for number, result in enumerate(results, 1):
        quote = _quote(result)
        if len(found) >= limit or not quote:
            continue
        locator = Locator(url=_address(result, source, number))
        # Scores fall from BEST_SCORE towards half of it, which keeps the order of the results.
        score = round(BEST_SCORE * (1 - (number - 1) / (2 * max(limit, 1))), 3)
        item = Evidence(kind=kind, locator=locator, quote=quote, score=max(score, 0.05), reasons=(f"from {source}",))
        found.setdefault(item.key, item)
    return tuple(found.values())


def clean(text: str) -> str:
    """Remove control characters and invisible ones, which can hide or reverse other text."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in _UNSEEN)
    lines = (" ".join(line.split()) for line in "".join(kept).split("\n"))
    return "\n".join(line for line in lines if line)


def results_in(value: Any, depth: int = 0) -> list[Received]:
    """Return the results in a decoded answer, under any usual name of its list; any other value is a single result."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, Mapping):
        inner = next((value[name] for name in _LISTS if isinstance(value.get(name), list | str | Mapping)), None)
        text = _first(value, _TEXTS)
        if inner is not None and not text:
            return results_in(inner, depth + 1)
        whole = text or json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)[:MAX_QUOTE]
        return [Received(whole, _first(value, _TITLES) if text else "", _first(value, _URLS), _first(value, _IDS))]
    if isinstance(value, str):
        return [Received(value)]
    if isinstance(value, Sequence) and depth < _DEEPEST:
        items = (results_in(item, _DEEPEST if not isinstance(item, Mapping) else depth + 1) for item in value[:100])
        return [result for found in items for result in found]
    return [Received(json.dumps(value, ensure_ascii=False, default=str)[:MAX_QUOTE])]


def is_public(url: str) -> bool:
    """Return whether an address may be shown to others: http(s), with a host outside private networks."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.password:
        return False
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return "." in host and not _PRIVATE.search(host) and not host.replace(".", "").isdigit()


def _quote(result: Received) -> str:
    title, text = clean(result.title)[:200].replace("\n", " "), clean(result.text)
    return (f"{title}\n{text}" if title and not text.startswith(title) else text)[:MAX_QUOTE].strip()


def _address(result: Received, source: str, number: int) -> str:
    url = clean(result.url).replace("\n", "")
    if len(url) <= _MAX_URL and not any(c.isspace() for c in url) and is_public(url):
        return url
    name = re.sub(r"[^\w./:#-]+", "-", clean(result.id or ("" if "//" in url else url))[:_MAX_ID]).strip("-")
    return f"mcp:{source}/{name or number}"


def _first(value: Mapping[str, Any], names: Iterable[str]) -> str:
    given = (value.get(name) for name in names)
    return next((str(value) for value in given if isinstance(value, str | int) and str(value).strip()), "")
