"""The input of every finder of facts: what the reporter wrote, the code with its history, the ranked files."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nodes.search.facts.code import Code
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.history.claims import Claims, read_claims
from nodes.search.issue.mentions.markdown import indented_blocks, split_blocks, without_comments, without_template
from nodes.search.issue.normal.report import UNKNOWN, LogLine, as_written, log_lines, normalise
from nodes.search.issue.query import MAX_ISSUE_TEXT
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.tokens import folded, load_sections
from nodes.search.types import Query, StackTrace

MAX_LINE = 2_000
"""Maximum number of characters of a line that are read."""
_FORMS = load_sections(Path(__file__).with_name("inquiry.txt"))
_BOX, _IMAGE, _IMAGE_URL, _FORM_HEADING, _TAG, _LICENCE, _SPAN, _IDENTIFIER, _DEPRECATED = (
    re.compile("".join(_FORMS[name]))
    for name in "box image image_url form_heading tag licence span identifier deprecated".split()
)
_TRACE = "\1"
"""Placeholder for a removed stack trace."""
# Of 809 later files that had a fact in development issues, 13 were in the fix.
_DECLARED = ("defined_once", "default_here", "named_change", "introduced_in")
MIN_NAMES = 3
"""Minimum number of names of a report that tell whose code it is about."""
FIRST = 5
"""Number of ranked files that a report may show."""


@dataclass(frozen=True)
class IssueParts:
    """The parts of an issue that finders of facts read."""

    title: str
    prose: tuple[str, ...]
    """Lines outside code that the reporter wrote."""
    blocks: tuple[str, ...]
    """Fenced and indented code, without licences."""
    pasted: tuple[str, ...]
    """The blocks that contained no stack trace."""
    traces: tuple[StackTrace, ...]
    written: str
    """The body and all answers as the reporter wrote them."""
    body: str
    """The normalised text, to which the offsets of the traces refer."""
    folded: str
    """Title and normalised text in lower case with normalised white space, for lookups of words."""
    quiet: frozenset[str] = frozenset()
    """Lines of logs that only inform; if there is no error, each may be what the report is about."""

    @cached_property
    def spans(self) -> tuple[str, ...]:
        """Return inline code in order, the title's first."""
        found = (match[2].strip() for line in (self.title, *self.prose) for match in _SPAN.finditer(line))
        return tuple(dict.fromkeys(span for span in found if span))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """Return every line of prose and code that the reporter wrote or pasted."""
        blocks = (line for block in self.blocks for line in block.split("\n"))
        return tuple(line[:MAX_LINE] for line in (self.title, *self.prose, *blocks))

    def holds(self, words: str) -> bool:
        """Return whether the issue contains the words, with white space normalised."""
        return folded(words) in self.folded

    @cached_property
    def logged(self) -> tuple[LogLine, ...]:
        """Return the lines of logs, the most serious first."""
        return tuple(sorted(log_lines(self.written), key=lambda line: line.rank))

    def as_written(self, words: str | None) -> str | None:
        """Return the reporter's own characters for words of the normalised text."""
        return as_written(words, self.written) if words else words

    def trace_text(self, trace: StackTrace) -> str:
        """Return the lines of a trace."""
        return self.body[trace.start : trace.end]


def read_issue(query: Query, template: Iterable[str] = ()) -> IssueParts:
    """Read the title, the body and all answers; drop what the reporter did not write, such as lines of a template."""
    title = _TAG.sub("", query.title[:1_000], count=1) if _TAG.match(query.title) else query.title[:1_000]
    whole = "\n".join((query.body, *query.extra))[:MAX_ISSUE_TEXT]
    # The placeholder in the text itself would count as a trace.
    written = whole.replace(_TRACE, " ")
    body = normalise(written).text
    traces = tuple(find_traces(body))
    prose, blocks = split_blocks(without_template(without_comments(_blank(body, traces))))
    hints = frozenset(filter(None, (line.strip() for line in template)))
    narrative = "\n".join(_narrative(prose.split("\n"), hints))
    indented = tuple(indented_blocks(narrative))
    code = [_own(block, hints) for block in (*blocks, *indented)]
    logged = [*log_lines(written)]
    fails = traces or any(line.rank == 0 for line in logged)
    informs = [line.text for line in logged if line.rank > UNKNOWN]
    informs += [line.strip() for line in written.split("\n") if _DEPRECATED.search(line[:MAX_LINE])]
    quiet = frozenset(("", *(informs if fails else ())))
    return IssueParts(
        title=title,
        prose=tuple(line[:MAX_LINE] for line in _outside(narrative.replace(_TRACE, "")) if line.strip() not in quiet),
        blocks=tuple(plain for block in code if (plain := block.replace(_TRACE, "")).strip()),
        pasted=tuple(block for block in code if block.strip() and _TRACE not in block),
        traces=traces,
        written=written,
        body=body,
        folded=folded(f"{title}\n{body}"),
        quiet=quiet,
    )


def _blank(body: str, traces: Iterable[StackTrace]) -> str:
    """Replace stack traces with placeholders; line numbers do not change, so that fences stay intact."""
    # The last trace first, so that the offsets of the others remain valid.
    for trace in sorted(traces, key=lambda trace: -trace.start):
        # Without frames it is only a message, which finders read as text.
        if trace.frames:
            gap = "\n" * body.count("\n", trace.start, trace.end)
            body = f"{body[: trace.start]}{_TRACE}{gap}{body[trace.end :]}"
    return body


def _narrative(lines: Iterable[str], hints: frozenset[str]) -> Iterator[str]:
    """Drop headings of forms, empty boxes, template text, pictures and licences."""
    for line in lines:
        plain = line.strip()
        if plain in hints or _BOX.match(line) or _FORM_HEADING.match(line[:MAX_LINE]) or _LICENCE.search(line):
            # An empty line, so that the paragraphs before and after are not joined.
            yield ""
        else:
            yield _IMAGE_URL.sub(" ", _IMAGE.sub(" ", line[:MAX_LINE])) if "http" in line or "<" in line else line


def _own(block: str, hints: frozenset[str]) -> str:
    if _LICENCE.search(block):
        paragraphs = block.split("\n\n")
        block = "\n\n".join(part for part in paragraphs if not _LICENCE.search(part))
    return "\n".join(line for line in block.split("\n") if line.strip() not in hints)


def _outside(prose: str) -> Iterator[str]:
    """Yield the lines of prose that are not indented code."""
    blank_above, inside = True, False
    for line in prose.split("\n"):
        inside = line.startswith(("    ", "\t")) and (inside or blank_above)
        if not inside:
            yield line
        blank_above = not line.strip() or (blank_above and inside)


@dataclass(frozen=True, slots=True)
class FinderInput:
    """One issue at one commit."""

    query: Query
    issue: IssueParts
    code: Code
    witness: Witness
    """Plain git, for searches of all text."""
    first: tuple[str, ...] = ()
    """The first files of the ranking."""
    found: tuple[Fact, ...] = ()
    """The facts of the preceding finders, for finders that extend other facts."""

    @property
    def claims(self) -> Claims:
        """Return the versions, days and changes that the report gives for the fault."""
        return read_claims(self.query.title, "\n\n".join((self.query.body, *self.query.extra)))

    @property
    def is_placed(self) -> bool:
        """Return whether a fact, such as any frame, places the report better than a declaration does."""
        frames = (fact for fact in self.found if fact.kind == "raised_here")
        strong = (fact for fact in self.found if fact.strong and fact.line and fact.kind not in _DECLARED)
        named = (fact.is_named_line or fact.is_option or fact.path in self.first for fact in strong)
        return any(frames) or any(named)

    @property
    def is_of_other_code(self) -> bool:
        """Return whether the report has names in code mark-up, of which no own file has any."""
        names = {name for span in self.issue.spans for name in _IDENTIFIER.findall(span)}
        self.code.look_up(names)
        return len(names) >= MIN_NAMES and not any(map(self.code.files_with, names))

    @property
    def shown(self) -> tuple[Fact, ...]:
        """Return what a report may show of the facts so far, strong ones first, then by rank, then named lines."""
        ranks = {path: rank for rank, path in enumerate(self.first)}
        shown = [fact for fact in self.found if fact.path in ranks or fact.is_named_line or fact.is_option]
        return tuple(sorted(shown, key=lambda fact: (not fact.strong, ranks.get(fact.path or "", len(ranks)))))
