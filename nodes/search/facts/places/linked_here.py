"""``linked_here``: lines that the report links to, located at this commit."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import md5, sha256
from urllib.parse import unquote

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.places.moved import ENOUGH, nearest
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.history.names import plain
from nodes.search.languages.table import language_of
from nodes.search.sentences import say

MAX_LINKS = 12
"""Maximum number of links of one issue that are followed."""
MAX_RANGE = 60
"""Maximum number of lines of one link that are compared."""
_HOSTED = r"https?://[^/\s]{1,100}/(?:[^/\s]{1,100}/){0,6}?(?P<repo>[^/\s]{1,100})(?:/-)?"
_LINES = r"#(?:L|lines-|cl-|n)(?P<first>\d{1,6})(?:C\d{1,5})?(?:[-:]L?(?P<last>\d{1,6}))?"
_FORMS = (
    re.compile(
        _HOSTED
        + r"/(?:blob|blame|raw|src|tree)/(?:(?:tag|branch|commit|refs/tags|refs/heads)/)?(?P<ref>[^/\s?]{1,100})/"
        rf"(?:item/)?(?P<path>[^\s#?]{{1,300}})(?:\?(?!h=|id=)[^\s#]{{0,100}})?{_LINES}"
    ),
    re.compile(_HOSTED + rf"/tree/(?P<path>[^\s#?]{{1,300}})\?(?:h|id)=(?P<ref>[^\s#&]{{1,100}}){_LINES}"),
)
"""The addresses of GitHub, GitLab, Gitea, Bitbucket and SourceHut, and those of cgit."""
_DIFF = re.compile(
    _HOSTED + r"/(?:compare/(?P<old>[^\s#?]{1,100}?)\.{2,3}(?P<new>[^\s#?]{1,100})|commits?/(?P<sha>[0-9a-f]{7,64}))"
    r"(?:\?[^\s#]{0,100})?#diff-(?P<digest>[0-9a-f]{32,64})(?P<side>[LR])(?P<first>\d{1,6})(?:-[LR](?P<last>\d{1,6}))?"
)
"""A line of a difference; the digest is that of the file's path."""
_SHORT = re.compile(
    r"(?<![\w./:@-])(?P<path>(?:[\w@+.-]{1,100}/){0,20}[\w@+.-]{1,100}\.\w{1,6})#L(?P<first>\d{1,6})(?:-L?(?P<last>\d{1,6}))?"
)
_BREAK = re.compile(
    r"(?:(?<=[\w/.%-])[=\\]?[ \t]{0,4}\r?\n[ \t>]{0,8}(?=(?!https?://)[\w@%+./-]{0,300}(?:#(?:L|lines-|cl-|n)\d|/[=\\]?\s))"
    r"|(?<=#)[ \t]{0,4}\r?\n[ \t>]{0,8}(?=L\d))"
)
"""A line break before the end of an address, with the sign that a mail program or a shell puts before it."""
_OPEN_ADDRESS = re.compile(r"https?://[^\s\"'<>]{8,300}\Z")
_REACH = 320
"""Characters of a line in which an address may begin."""
MAX_REF = 4
"""Maximum number of parts of a ref, as in ``release/2.x`` and ``@acme/core@1.2.1``."""
_HEX = re.compile(r"[0-9a-f]{7,64}")
_BRANCH = re.compile(r"master|main|develop|devel|dev|trunk|HEAD|next|stable")


@dataclass(frozen=True, slots=True)
class Link:
    """Lines that the report names by a path and ``#L``."""

    words: str
    path: str
    first: int
    last: int
    ref: str | None = None
    repo: str | None = None


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield a fact for each linked line of the project's own files."""
    code, joined = inquiry.code, ""
    for written in (_named(link, code.index.paths) for link in links(inquiry.issue.body)[:MAX_LINKS]):
        ref, path = next((reading for reading in _readings(written) if code.number(reading[1]) is not None), (None, ""))
        link = replace(written, path=path, ref=ref)
        number = code.number(path)
        # The second part of an address that a line break splits is not a separate link.
        if number is None or not _may_be_fixed(code, number) or written.words in joined:
            continue
        at = _commit(code.repository, ref, code.sha)
        # Only a commit's id identifies the project; else the repository's name shows that the link is about it.
        repo = link.repo or ""
        is_sure = not repo or (at is not None and _HEX.fullmatch(ref or ""))
        is_own = is_sure or (
            plain(repo.removesuffix(".git")) in code.names
            and (at is not None or _BRANCH.fullmatch(ref or "") or _is_branch(code.repository, ref))
        )
        fact = _fact(code, link, number, at) if is_own else None
        if fact:
            joined += f"{written.words}\n"
            yield fact


def _may_be_fixed(code: Code, number: int) -> bool:
    """Return whether a file is own code, or a template or a configuration of the project."""
    return bool(code.own[number]) or (
        code.index.roles[number] in ("source", "config", "data")
        and language_of(code.path(number)) is None
        and not code.is_ignored(number)
    )


def links(text: str) -> list[Link]:
    """Return the distinct linked lines of a text in order, also of an address with a line break inside."""
    breaks = [
        item.span()
        for item in _BREAK.finditer(text)
        if _OPEN_ADDRESS.search(text[max(0, item.start() - _REACH) : item.start()].replace("\n", ""))
    ]
    whole = text
    for start, end in reversed(breaks):
        whole = whole[:start] + whole[end:]
    found = [
        Link(
            text[_offset(match.start(), breaks) : _offset(match.end(), breaks)],
            match["path"],
            int(match["first"]),
            int(match["last"] or match["first"]),
            match["ref"],
            match["repo"],
        )
        for form in _FORMS
        for match in form.finditer(whole)
    ]
    # The end of a full address would count as a short link too.
    for form in _FORMS:
        text = form.sub(" ", text)
    found += [
        Link(match[0], match["path"], int(match["first"]), int(match["last"] or match["first"]))
        for match in _SHORT.finditer(text)
    ]
    found += filter(None, map(_in_difference, _DIFF.finditer(text)))
    return list(dict.fromkeys(found))


def _in_difference(match: re.Match[str]) -> Link | None:
    """Return the line of a difference, with the digest instead of the path; none of the version before a commit."""
    ref = match["new"] or match["sha"] if match["side"] == "R" else match["old"]
    lines = int(match["first"]), int(match["last"] or match["first"])
    return Link(match[0], match["digest"], *lines, ref, match["repo"]) if ref else None


def _named(link: Link, paths: Iterable[str]) -> Link:
    """Return a link with the path whose digest it has."""
    digest = {32: md5, 64: sha256}.get(len(link.path)) if _HEX.fullmatch(link.path) else None
    if digest is None:
        return link
    found = (path for path in paths if digest(path.encode(), usedforsecurity=False).hexdigest() == link.path)
    return replace(link, path=next(found, link.path))


def _offset(at: int, breaks: Sequence[tuple[int, int]]) -> int:
    """Return the offset in a text of an offset in the text without its breaks."""
    for start, end in breaks:
        if start < at:
            at += end - start
    return at


def _readings(link: Link) -> Iterator[tuple[str | None, str]]:
    """Yield each ref and path that an address can mean: a ref may have slashes, and both may have escapes."""
    parts = unquote(link.path).split("/")
    for cut in range(min(MAX_REF, len(parts)) if link.ref else 1):
        yield "/".join((unquote(link.ref or ""), *parts[:cut])) or None, "/".join(parts[cut:])


def _commit(repository: Repository, ref: str | None, head: str) -> str | None:
    """Return the commit of a link with the id of a commit, a tag or a branch in addition to that of the head.

    The branch that is read moves, so the head says nothing about a line of it.
    """
    names = [ref] if ref and _HEX.fullmatch(ref) else [f"refs/tags/{ref}", f"refs/heads/{ref}"] if ref else []
    for name in names:
        try:
            sha = repository.resolve(name)
        except SearchError:
            continue
        if name == ref:
            return sha if sha.startswith(ref) else None
        base = repository.cached_output("merge-base", "--is-ancestor", head, sha)
        if name.startswith("refs/tags/") or base is None:
            return sha
    return None


def _is_branch(repository: Repository, ref: str | None) -> bool:
    """Return whether the clone has a branch of this name, even if few branches are named like it."""
    try:
        return bool(ref and repository.resolve(f"refs/heads/{ref}"))
    except SearchError:
        return False


def _fact(code: Code, link: Link, number: int, at: str | None) -> Fact | None:
    # Lines move: of lines whose text is found again 80 % were in a fixed function, of lines taken by number 60 %. One
    # of a known commit that the file lacks now is another one by its number.
    line = _mapped(code, link, number, at) if at else link.first
    if line is None:
        return None
    exact = at is not None
    hit = code.hit(number, line)
    if hit is None:
        return None
    says = say("The report links to this line{of}.", of=say(" of `{place}`", place=link.path))
    if not exact:
        values = {"line": str(link.first), "path": link.path}
        says = say("The report links to line {line} of `{path}`; the line is read as numbered.", **values)
    return hit.fact("linked_here", says, link.words, count=1, strong=True, exact=exact)


def _mapped(code: Code, link: Link, number: int, at: str) -> int | None:
    """Find the linked text in the file at this commit: the nearest line with the same text."""
    last = min(max(link.first, link.last), link.first + MAX_RANGE)
    then = code.repository.read_file(at, link.path)
    old = then.decode("utf-8", "replace").split("\n") if then else []
    lines = code.lines(number)
    for wanted in range(link.first, min(last, len(old)) + 1):
        text = old[wanted - 1].strip()
        if sum(map(str.isalnum, text)) < ENOUGH:
            continue
        if line := nearest(lines, text, wanted):
            return line
    return None


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words name the path and a line, and that a linked commit has that text there."""
    found = [_named(link, [fact.path or ""]) for link in links(fact.words or "")]
    ref = next((ref for ref, path in _readings(found[0]) if path == fact.path), "") if found else ""
    if ref == "":
        return "the words do not link to this file"
    if fact.exact:
        at = _commit(witness.repository, ref, witness.sha) or ""
        last = min(max(found[0].first, found[0].last), found[0].first + MAX_RANGE)
        then = witness.repository.read_file(at, fact.path or "") or b""
        linked = then.decode("utf-8", "replace").split("\n")[found[0].first - 1 : last]
        return None if any(line.strip() == (fact.text or "").strip() for line in linked) else "the linked text differs"
    return None if fact.line == found[0].first else "the words link to another line"
