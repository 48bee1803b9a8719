"""``raised_here`` for code of the past: a frame in a file that a named release has and the commit no longer has."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import made_before, releases_named
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output import raised_here
from nodes.search.facts.output.frame_lines import MappedFrame, is_call, same_start
from nodes.search.facts.output.frame_says import passes
from nodes.search.facts.output.frame_text import frame_text, frame_words
from nodes.search.facts.output.frames import chains, from_root, own_frames
from nodes.search.facts.output.raised_here import MAX_TRACES, event_of
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import Witness, is_own
from nodes.search.git import Repository
from nodes.search.history.versions import Release
from nodes.search.paths.project import common_tail
from nodes.search.sentences import say
from nodes.search.tokens import normalise_space
from nodes.search.types import Frame, StackTrace

MAX_RELEASES, MAX_ABOVE = 3, 400
"""Maximum number of releases, and of lines between a frame's line and the head of its function."""
_HEAD = re.compile(
    r"\s{0,80}(?:[a-z()]{2,12} ){0,4}(?:func(?: ?\([^()]{0,80}\))?|fn|def|function) ([A-Za-z_]\w{0,80})\b"
)
"""The head of a function, in languages that mark one with a word."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the innermost frame of each root trace in a removed file, if the commit has no frame inside it."""
    traces = [from_root(chain)[0] for chain in islice(chains(inquiry.issue), MAX_TRACES)]
    names = {frame.path.rpartition("/")[2] for trace in traces for frame in trace.frames}
    named = sorted((named.release for named, _ in releases_named(inquiry)), key=lambda release: -release.made)
    gone = dict[Release, list[str]]()
    for release in list(dict.fromkeys(named))[:MAX_RELEASES] if names else ():
        files = Witness(inquiry.code.repository, release.commit, "").files()
        files = [path for path in files if path.rpartition("/")[2] in names and is_own(path)]
        gone[release] = [path for path in files if inquiry.code.number(path) is None]
    for trace in traces if any(gone.values()) else ():
        found = next(own_frames(inquiry.code, inquiry.issue, trace), None)
        # A file of the same name may have another function of the same name.
        depths = range(trace.frames.index(found.frame) + (not found.exact) if found else len(trace.frames))
        facts = (_fact(inquiry, release, gone[release], trace, depth) for release in gone for depth in depths)
        yield from islice(filter(None, facts), 1)


def _fact(inquiry: FinderInput, release: Release, gone: list[str], trace: StackTrace, depth: int) -> Fact | None:
    """Return the fact about a frame, if its line of the release is the one that the trace prints or calls from."""
    frame, inner, code = trace.frames[depth], trace.frames[depth - 1] if depth else None, inquiry.code
    module = "" if "/" in frame.path else frame.module or ""
    package = module.split("/") if "/" in module else module.split(".")[:-1]  # as Go writes it, or Java
    tails = {path: common_tail([*package, *frame.path.split("/")], path.split("/")) for path in gone}
    paths = [path for path, shared in tails.items() if shared > min(1, path.count("/"))]
    words = frame_words(inquiry.issue.trace_text(trace), frame)
    if len(paths) != 1 or not frame.line or not words or not inquiry.issue.holds(words):
        return None
    printed = frame_text(inquiry.issue, trace, frame)
    text = (code.repository.lines(release.commit, paths[0], frame.line, frame.line) or "").removesuffix("\r")
    is_there = same_start(normalise_space(text), printed) if printed else is_call(text, inner)
    is_there = is_there or (not printed and _is_inside(code.repository, release.commit, paths[0], frame))
    for change in (is_there and code.log.touching(paths, release.commit, code.sha, 1)) or ():
        mapped = MappedFrame(frame, trace, -1, frame.line, frame.line, frame.line, None, exact=True)
        place = (frame.function or "").strip("<>").rpartition(".")[2] or paths[0]
        event = None if mapped.has_inner else event_of(inquiry.issue, mapped, text)
        fact = event.at(place) if event else passes(mapped, place, "")
        values = {"fact": fact, "release": str(release.version), "sha": change.sha[:10], "title": short(change.subject)}
        new = renamed(code.repository, change.sha, paths[0])
        says = say("{fact} The file is in {release}; `{sha}` “{title}” removed it.", **values)
        if new:
            says = say("{fact} The file is in {release}; `{sha}` “{title}” renamed it to `{new}`.", new=new, **values)
        hit = Hit(paths[0], frame.line, text, place)
        more = {"sha": release.commit, "change": change.sha, "strong": True, "unclaimed": True, "exact": False}
        return hit.fact("raised_here", says, words, count=1, **more)
    return None


def _is_inside(repository: Repository, commit: str, path: str, frame: Frame) -> bool:
    """Return whether the nearest head of a function above a frame's line is the one of the frame's function."""
    line, name = frame.line or 1, (frame.function or "").rpartition(".")[2]
    above = (repository.lines(commit, path, max(1, line - MAX_ABOVE), line) or "").split("\n")
    heads = (head[1] for text in reversed(above) if (head := _HEAD.match(text)))
    return bool(name) and next(heads, None) == name


def renamed(repository: Repository, change: str, path: str) -> str | None:
    """Return the path to which a commit moved a file and kept most of its lines, or None."""
    command = ("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", "--no-commit-id", change)
    names = (repository.cached_output(*command) or b"").decode("utf-8", "replace").split("\0")
    return dict(zip(names[1::3], names[2::3], strict=False)).get(path)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the release has the file and the commit does not, and that the change removed or renamed it."""
    path, change, repository = fact.path or "", fact.change or "", witness.repository
    of_release = (item for made in made_before(witness) for item in made.all if item.commit == fact.sha)
    if not any(f" The file is in {item.version}; " in fact.says for item in of_release):
        return "no tag of this version is at the commit"
    if repository.entry(witness.sha, path) or witness.message(change) is None or repository.entry(change, path):
        return "the commit has the file, or the change did not remove it"
    new = renamed(repository, change, path)
    if path not in witness.changed(change) or (f" renamed it to `{new}`." if new else " removed it.") not in fact.says:
        return "the change did not remove or rename it so"
    return raised_here.check(fact, witness)
