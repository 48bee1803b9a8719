"""Objections of a reader to a report, found with plain git and without the product's finders.

The finders and their checks share code, so they share errors. These objections are looked for with other means.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.report import TriageReport
    from nodes.search.facts import Fact

CODE = frozenset({"raised_here", "quoted_here", "read_here", "default_here", "used_here", "called_from"})
"""Kinds whose line must be code; a message may be in a long string."""
NEAR = 3
"""Number of lines before a line in which a call that declares an option may begin."""
MAX_HITS = 3
_DECLARES = re.compile(r"opt|arg|flag|param|switch|setting|config|command|usage|case|==|strcmp", re.IGNORECASE)
_PLAIN = r"""\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"""
_LONG = r"""(?P<long>\"{3}[\s\S]*?(?:\"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z))"""
_LEXEMES = {
    "py": rf"(?P<note>#[^\n]*)|{_LONG}|{_PLAIN}",
    "rb": rf"(?P<note>#[^\n{{][^\n]*|^=begin[\s\S]*?^=end)|{_PLAIN}",
    "": rf"(?P<note>//[^\n]*|/\*[\s\S]*?(?:\*/|\Z))|{_PLAIN}|`(?:\\.|[^`\\])*`",
}
"""Comments, strings over several lines and other strings, by a file's ending; the last is that of C and its kin."""
_PYTHON_FRAME = re.compile(r'^\s*File "(?P<path>[^"\n]+)", line \d+', re.MULTILINE)
_INSTALLED = re.compile(r"site-packages|dist-packages|lib/python|Python\d|^<|node_modules")
_SPAN = re.compile(r"(?<!`)`(?P<code>[^`\n]{6,120})`(?!`)")
_OPERATOR = re.compile(r"\w\s?(?:[=!<>]=|=|<|>)\s?[\w\"']|\w\[[\w\"']|\w(?:\.|->|::)\w+\(.")
_ASIDE = re.compile(
    r"(?:^|[/_.-])(?:tests?|specs?|docs?|examples?|benchmarks?|vendor|third_party|node_modules)(?:[/_.-]|$)"
)
_SOURCE = re.compile(r"\.(?:py|pyx|js|jsx|ts|tsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|dart|ex|lua)$")


@dataclass(frozen=True, slots=True)
class Reading:
    """The objections to one report."""

    faults: tuple[str, ...]
    """What is not true of a fact."""
    echoes: bool
    """Whether the headline only repeats a name of the title."""
    missed: tuple[str, ...]
    """Expressions of code spans that one line of source has, in a file that the comment does not name."""


@dataclass(frozen=True)
class Commit:
    """One commit of a clone, read with git."""

    clone: Path
    sha: str

    def git(self, *arguments: str) -> str:
        """Return what a git command prints, or nothing if it fails."""
        done = subprocess.run(["git", "-C", str(self.clone), *arguments], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    def text(self, path: str) -> str:
        """Return the text of a file."""
        return self.git("show", f"{self.sha}:{path}")

    def has(self, path: str) -> bool:
        """Return whether a file's path ends with the last two parts of a path."""
        end = "/".join(path.replace("\\", "/").split("/")[-2:])
        return bool(self.git("ls-tree", "-r", "--name-only", self.sha, "--", f":(glob)**/{end}", end))


def read(report: TriageReport, title: str, body: str, commit: Commit) -> Reading:
    """Return the objections to a report about an issue at a commit."""
    lead = report.facts[report.headline] if report.headline is not None else None
    faults = [f"{fact.kind} {fact.path}:{fact.line}: {why}" for fact in report.facts for why in _faults(fact, commit)]
    if (
        lead
        and report.root_cause is not None
        and lead.kind == "raised_here"
        and (why := inner_frame(lead, body, commit))
    ):
        faults.append(f"{lead.kind} {lead.path}:{lead.line}: {why}")
    missed = (words for words, path in once(body, commit) if path not in report.github_comment)
    return Reading(tuple(faults), lead is not None and echoes(lead, title), tuple(missed))


def _faults(fact: Fact, commit: Commit) -> Iterator[str]:
    if fact.kind not in CODE or fact.path is None or fact.line is None or fact.sha:
        return
    text = commit.text(fact.path)
    if is_note(text, fact.path, fact.line):
        yield "the line is a comment or a docstring"
    if fact.kind in ("read_here", "default_here") and (fact.words or "").startswith("--"):
        lines = text.split("\n")[max(0, fact.line - 1 - NEAR) : fact.line]
        dashed = fact.words or ""
        if dashed not in lines[-1] and not any(_DECLARES.search(line) for line in lines):
            yield f"nothing there declares or reads {dashed}"


def is_note(text: str, path: str, line: int) -> bool:
    """Return whether all of a line is in comments or in a string over several lines."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
    end = text.find("\n", start) if text.find("\n", start) >= 0 else len(text)
    covered = [False] * (end - start)
    for found in re.finditer(_LEXEMES.get(path.rpartition(".")[2], _LEXEMES[""]), text, re.MULTILINE):
        if found.start() >= end:
            break
        note = found.groupdict().get("note") is not None
        long = found.groupdict().get("long") is not None and found[0].count("\n") > 0
        if note or long:
            for at in range(max(found.start(), start), min(found.end(), end)):
                covered[at - start] = True
    bare = [at for at, character in enumerate(text[start:end]) if not character.isspace()]
    return bool(bare) and all(covered[at] for at in bare)


def echoes(lead: Fact, title: str) -> bool:
    """Return whether a headline only gives the definition or the file of a word of the title."""
    return lead.kind in ("defined_once", "named_here") and bool(lead.words) and (lead.words or "") in title


def inner_frame(lead: Fact, body: str, commit: Commit) -> str | None:
    """Return the objection that the reporter's own program runs below a claimed frame; only Python traces are read."""
    paths = [found["path"] for found in _PYTHON_FRAME.finditer(body)]
    held = [at for at, path in enumerate(paths) if lead.path and path.replace("\\", "/").endswith(lead.path)]
    inner = paths[held[-1] + 1 :] if held else []
    foreign = [path for path in inner if not _INSTALLED.search(path) and not commit.has(path)]
    return f"{foreign[0]} runs below it" if foreign else None


def once(body: str, commit: Commit) -> Iterator[tuple[str, str]]:
    """Yield the expressions of code spans that exactly one line of source has, each with its path."""
    for code in list(dict.fromkeys(found["code"].strip() for found in _SPAN.finditer(body)))[:12]:
        if not _OPERATOR.search(code):
            continue
        printed = commit.git("grep", "-I", "-n", "-F", "-e", code, commit.sha, "--")
        hits = [hit.removeprefix(f"{commit.sha}:").split(":", 2) for hit in printed.split("\n") if hit]
        source = [hit for hit in hits if _SOURCE.search(hit[0]) and not _ASIDE.search(hit[0])]
        if len(source) == 1 and len(hits) <= MAX_HITS:
            path, number, _ = source[0]
            if not is_note(commit.text(path), path, int(number)):
                yield code, path


def table(readings: Sequence[Reading], leads: int) -> Iterator[str]:
    """Yield the lines of a summary.

    Args:
        readings: those of all reports.
        leads: how many reports have a headline.
    """
    faults = [fault for one in readings for fault in one.faults]
    missed = [words for one in readings for words in one.missed]
    yield f"facts a reader objects to           {len(faults)}"
    yield f"headlines that repeat the title     {sum(one.echoes for one in readings)} of {leads}"
    yield f"expressions on one line, not named  {len(missed)}"
    yield from (f"  {fault}" for fault in faults[:20])
    yield from (f"  missed: {words}" for words in missed[:20])
