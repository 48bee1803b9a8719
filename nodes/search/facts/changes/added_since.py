"""``introduced_in`` for names: the change that added a refused name after the release that the report names."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.changes.releases import (
    first_to_change,
    is_released,
    made_before,
    named_release,
    since_release,
)
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.names.decided_here import every_spelling
from nodes.search.facts.names.named import BUILT_IN
from nodes.search.facts.names.read_here import FLAG
from nodes.search.facts.types import LATER, Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.mentions.places import URL
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS

MAX_NAMES, MAX_PATHS = 8, 4
"""Maximum number of names that are looked up, and of files whose changes are read for each."""
_MARKED = re.compile(r"[\"'`“\u2018«]{1,2}(?:--?)?([A-Za-z_$][\w$-]{3,60})[\"'`”\u2019»]")
_BARE = re.compile(r"(?<![\w$./-])[A-Za-z][\w$]{3,60}(?![\w$/-])")
_REFUSED = re.compile(
    r"\b(?:un(?:known|recogni[sz]ed|expected|defined|supported)|invalid|no such|has no"
    r"|(?:not|n['\u2019]t) (?:an?|be|found|defined|recogni[sz]ed|exist|have|supported?))\b",
    re.IGNORECASE,
)

SAYS = LATER


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the changes that added refused names after the release that the report names."""
    named, witness = named_release(inquiry), inquiry.witness
    # A line of the trace that is here is not of a release without it.
    is_here = any(fact.kind == "raised_here" and fact.strong for fact in inquiry.found)
    if named is None or named.release.commit == inquiry.code.sha or is_here:
        return
    for words in islice(_names(inquiry.issue), MAX_NAMES):
        hits = witness.own_hits(_spellings(words))
        if not hits or _has(witness, named.release.commit, words):
            continue
        paths = list(dict.fromkeys(hit.path for hit in hits))[:MAX_PATHS]
        found = next((name for name in _spellings(words) if any(name in hit.text for hit in hits)), words)
        sha = first_to_change(witness.repository, found, named.release.commit, inquiry.code.sha, paths)
        change = next(iter(inquiry.code.log.details([sha])), None) if sha and _adds(witness, sha, words) else None
        hit = next((hit for hit in inquiry.code.few(hits) if hit.path in paths), None)
        if change and hit:
            values = {"sha": change.sha[:10], "title": short(change.subject)}
            values |= {"name": words, "release": str(named.release.version)}
            where = since_release(witness.repository, change.sha, named.made)
            says = say("`{name}` is not in {release}; `{sha}` “{title}” added it{where}.", where=where, **values)
            yield hit.fact("introduced_in", says, words, change=change.sha, count=1, strong=True, unclaimed=True)


def _names(issue: IssueParts) -> Iterator[str]:
    """Yield distinct names of code in the title and in the lines that refuse something."""
    messages = (trace.message or "" for trace in issue.traces)
    refused = (line for line in (*issue.lines[1:], *messages) if _REFUSED.search(line))
    seen = set[str]()
    for line in (URL.sub(" ", text[:1_000]) for text in (issue.title, *refused)):
        marked = [*_MARKED.findall(line), *(flag.lstrip("-") for flag in FLAG.findall(line))]
        for name in (*marked, *filter(COMPOUND.search, _BARE.findall(line))):
            if name not in seen and name not in BUILT_IN and name.lower() not in STOPWORDS and issue.holds(name):
                seen.add(name)
                yield name


def _spellings(words: str) -> list[str]:
    return [words, *(name for name in every_spelling(words) if name != words)]


def _has(witness: Witness, sha: str, words: str) -> bool:
    """Return whether any file of a commit has a name, in any spelling."""
    return bool(Witness(witness.repository, sha, "").grep_any(_spellings(words)))


def _adds(witness: Witness, change: str, words: str) -> bool:
    """Return whether a commit has a name and the one before it has not."""
    before = (witness.repository.cached_output("rev-parse", "--verify", f"{change}~1") or b"").decode().strip()
    return _has(witness, change, words) and not _has(witness, before, words)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that no file of the release has the name, and that the change added it."""
    change, words, found = fact.change or "", fact.words or "", LATER.fullmatch(fact.says)
    made = (item for releases in made_before(witness) for item in releases.all)
    release = next((item for item in made if found and str(item.version) == found[2]), None)
    if release is None or not found or found[1] != words or witness.message(change) is None:
        return "no release has this version, or the commit is not in the history"
    if _has(witness, release.commit, words):
        return "the release has the name"
    is_so = _adds(witness, change, words) and is_released(witness, fact, found[3])
    return None if is_so else "the change did not add the name, or is in another release"
