"""``quoted_here`` for addresses: the file whose folders spell an address of the report, in SvelteKit and Next.js."""

import re
from collections.abc import Iterable, Iterator

from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import ADDRESS, Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say

MAX_ADDRESSES, MAX_LINE, MAX_SEGMENTS = 8, 2_000, 12
"""Maximum number of addresses of a report, of characters of a line that are read, and of segments of an address."""
_ADDRESS = re.compile(
    r"(?:\b(?P<method>GET|POST|PUT|PATCH|DELETE)\s{1,3})?(?:https?://[^\s/()<>\"'`]{1,100}|(?<![\w./~:@-]))"
    r"(?P<path>(?:/[\w.~%@:-]{0,60}[\w~%@-]){1,12})/?(?=[?#\s\"'`)>\]]|[.,;:!]?(?:\s|$))"
)
ROOTS = {
    **dict.fromkeys(("+server.ts", "+server.js", "+page.server.ts", "+page.server.js", "+page.svelte"), "routes"),
    **dict.fromkeys(("route.ts", "route.js", "page.tsx", "page.jsx", "page.ts", "page.js"), "app"),
}
"""The names of files that serve an address, and the folder below which the other folders spell it."""
_HANDLES = r"\bexport\b.{0,40}\b(?:%s|default)\b"
_HANDLERS = "GET|POST|load|actions"
SAYS = re.compile(f"{ADDRESS}([^`]{{2,400}})` leads to ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the file that the first address of the report leads to, requests with a method first."""
    code = inquiry.code
    paths = {code.path(number): number for name in ROOTS for number in code.index.names.by_name.get(name, ())}
    for method, address in _addresses(inquiry.issue.lines) if paths and not inquiry.is_placed else ():
        path = served(address, paths)
        if path is None or not inquiry.issue.holds(address):
            continue
        lines, handles = code.lines(paths[path]), re.compile(_HANDLES % (method or _HANDLERS))
        written = [at for at, line in enumerate(lines, 1) if line.strip()]
        line = next((at for at in written if handles.search(lines[at - 1][:MAX_LINE])), next(iter(written), 0))
        if hit := code.hit(paths[path], line):
            says = say("The address `{words}` leads to `{path}` by the names of its folders.", words=address, path=path)
            yield hit.fact("quoted_here", says, address, count=1, strong=True, unclaimed=True)
            return


def _addresses(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Return the method, if any, and the path of each address."""
    found = dict.fromkeys(
        (item["method"] or "", item["path"]) for line in lines for item in _ADDRESS.finditer(line[:MAX_LINE])
    )
    return sorted(found, key=lambda item: not item[0])[:MAX_ADDRESSES]


def served(address: str, paths: Iterable[str]) -> str | None:
    """Return the file that serves an address, or None if there is none or the folders of several fit as well."""
    fitting: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        route = _route(path)
        if route and route[0] == address.split("/")[1] and _pattern(route).fullmatch(address):
            fitting.setdefault(route, []).append(path)
    most = max(map(_literals, fitting), default=0)
    best = [files for route, files in fitting.items() if _literals(route) == most]
    # The code that loads a page is next to it.
    return max(best[0], key=lambda path: ("server" in path, path)) if len(best) == 1 else None


def _route(path: str) -> tuple[str, ...]:
    """Return the segments of the address that a file serves; none for any other file."""
    *folders, name = path.split("/")
    root = ROOTS.get(name)
    parts = folders[folders.index(root) + 1 :] if root in folders else []
    # Folders in parentheses group routes, and those with an @ are parts of a page.
    return tuple(part for part in parts[:MAX_SEGMENTS] if part[0] not in "(@")


def _literals(route: tuple[str, ...]) -> int:
    return sum(part[0] != "[" for part in route)


def _pattern(route: tuple[str, ...]) -> re.Pattern[str]:
    """Return the addresses of a route, whose parameters are in brackets, optional ones in two."""
    forms = list[str]()
    for part in route:
        rest, optional = part.startswith(("[...", "[[...")), part.startswith("[[")
        form = re.escape(part) if part[0] != "[" else "[^?#]{1,400}" if rest else "[^/]{1,60}"
        forms.append(f"(?:/{form})?" if optional else f"/{form}")
    return re.compile("".join(forms))


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the address leads to the file."""
    return None if served(fact.words or "", witness.files()) == fact.path else "the address leads to another file"
