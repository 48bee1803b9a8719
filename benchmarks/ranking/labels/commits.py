"""Messages of commits that close an issue: weak labels, written by the person who fixed it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.ranking.labels.git import Change, Git
from benchmarks.ranking.labels.reports import Report

WEIGHT = 0.4
WITHOUT_A_FAULT = 0.2
"""Weight of a message that has a word of a report, but none that says what goes wrong."""
SHORTEST = 120
"""Minimum length of a message without the parts that describe the fix, in characters."""
MAX_COMMITS = 20_000
CLOSING = r"(fix(es|ed)?|clos(es|ed?)|resolv(es|ed?)):?[ \t]+(issue|bug)?[ \t]*([a-z/-]+)?#[0-9]+"
_CLOSING = re.compile(CLOSING + r"|https?://\S+/issues/\d+", re.IGNORECASE)
_NUMBER = re.compile(r"#(\d+)")
_LEADING_NUMBER = re.compile(r"^#\d+\b[:,.]?\s*(- +)?")
_PREFIX = re.compile(
    r"^((fix|bug ?fix|perf|refactor|chore|update)(\([^)]*\))?!?:|\[[^\]]{1,30}\]|[\w/.,{}*-]{1,40}:)\s*", re.I
)
_VERB = re.compile(r"^(fix(es|ed)?|closes|resolves?|correct(s|ed)?)\b[:\s]*", re.IGNORECASE)
_FEATURE = re.compile(r"^(feat|feature|docs?|ci|build|chore|revert|style|bump)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"^(add|allow|bump|clean|convert|creat|deprecat|document|enabl|expos|extend|implement|improv|introduc|migrat|mov|new|"
    r"port|provid|refactor|reform|remov|renam|replac|rework|rewrit|simplif|speed|split|support|updat|upgrad|us)"
    r"(e|y|ies|es|s|ed|ing|ation)?\b",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[A-Z][\w-]{2,30}(-by|-on|-url|-id|s)?: ", re.IGNORECASE)
_SQUASHED = re.compile(r"^\s*[*-] ", re.MULTILINE)
_OF_THE_FIX = re.compile(
    r"^(this (pr|commit|change|patch|fixes)|we now|now |instead|switch|refactor|adds? |added |the fix|fix(es|ed)? |"
    r"to fix|make |makes |move|remove|rename|use |uses |also )",
    re.IGNORECASE,
)
_SYMPTOM = re.compile(
    r"error|exception|panic|crash|wrong|fail|expected|regression|traceback|\bwhen\b|broken|incorrect|hang|leak|missing",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"error|exception|panic|crash|wrong|fail|regression|traceback|broken|breaks?\b|incorrect|hang|hung|deadlock|leak|"
    r"segfault|unexpected|\bbugs?\b|overflow|corrupt|\brace\b|invalid|cannot|never|no longer|"
    r"(do|does|did|is|are|was|were|can|could|will|would)( not|n't)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{3,}")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def closing_commits(clone: Git, repository: str) -> Iterator[Report]:
    """Yield the commits of a clone that close an issue and add no feature, newest first, each issue once."""
    pattern = CLOSING.replace(r"[ \t]", "[[:space:]]")
    listed = clone.run(
        "log", "--no-merges", f"-{MAX_COMMITS}", "--format=%H%x00%s%x00%b%x01", "-E", "-i", f"--grep={pattern}"
    )
    seen: set[str] = set()
    for record in (listed or b"").decode(errors="replace").split("\x01"):
        sha, subject, body = [*record.strip().split("\0"), "", ""][:3]
        closed = _CLOSING.search(f"{subject}\n{body}")
        number = _NUMBER.search(closed.group()) if closed else None
        subject = _LEADING_NUMBER.sub("", subject)
        if number is None or number[1] in seen or _FEATURE.search(subject) or len(_SQUASHED.findall(body)) > 3:
            continue
        seen.add(number[1])
        summary = _PREFIX.sub("", subject)
        if _REQUEST.match(summary):
            continue
        title = _VERB.sub("", summary)
        yield Report("commit", repository, number[1], title.strip(), body, sha)


def without_the_fix(report: Report, changes: list[Change]) -> Report | None:
    """Remove the parts of a message that describe the fix; return None if too little of a report is left.

    These parts are trailers, closing lines, sentences that describe the change, and sentences with an identifier that
    only the added lines of the fix contain.
    """
    added = set(_IDENTIFIER.findall("\n".join(change.added for change in changes)))
    removed = set(_IDENTIFIER.findall("\n".join(change.removed for change in changes)))
    new = {word for word in added - removed if "_" in word or not (word.islower() or word.istitle())}
    title, body = (_without_fix(text, new) for text in (report.title, report.body))
    text = f"{title}\n\n{body}"
    if len(text) < SHORTEST or not _SYMPTOM.search(text) or not title:
        return None
    weight = WEIGHT if _FAULT.search(text) else WITHOUT_A_FAULT
    return Report("commit", report.repository, report.number, title, body, report.fix, weight)


def _without_fix(text: str, new: set[str]) -> str:
    text = re.sub(r"\s*\(#\d+\)", "", _COMMENT.sub("", text))
    lines = (line for line in text.splitlines() if not _TRAILER.match(line))
    sentences = _SENTENCE.split("\n".join(lines))
    kept = (
        sentence.strip()
        for sentence in sentences
        if not _CLOSING.search(sentence)
        and not _OF_THE_FIX.match(sentence.strip())
        and new.isdisjoint(_IDENTIFIER.findall(sentence))
    )
    return "\n".join(sentence for sentence in kept if sentence)
