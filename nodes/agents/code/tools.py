"""A model's view of the code: what its calls show, and which of these lines it may cite."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from nodes.brains.fence import estimate
from nodes.context.brain import FileCard, Shown
from nodes.context.ports import CodePort
from nodes.evidence import Evidence, Locator, NumberedEvidence, as_evidence, as_lookup, is_citable, quoted
from nodes.search.reading.lookups import name_parts
from nodes.search.types import FileSketch, Passage, PlaceSketch, Query, ToolAnswer, ToolCall
from nodes.trust.secrets import mask

READ = "read by a model"
_UNRANKED = 0.3
"""The score of a place that is not among the first places of any search of the commit."""
_NAMES, _FILES_OF_A_NAME = 4, 2
_FILE_NAME = re.compile(r"/|\w\.[A-Za-z]\w{0,4}$")
_REFERENCE = re.compile(r"([\w@./ +\-\[\]()]{1,150}?)(?::L?(\d{1,7})(?:\s?-\s?L?(\d{1,7}))?)?")
_CITED_LINES = 24
"""Maximum lines of one citation; of a longer range, only the beginning is cited."""
_LINE, _FEW = 240, 16
"""Maximum characters of a line; number of last lines that are shown even if they do not fit."""
_ASKED, _NOTED = 100, 40
_FIRST_FILES, _FIRST, _CHECKED, _OTHERS = 3, (3, 1), (1, 1), (1, 0)
"""Number of files that open a conversation in detail; places and lines of these, of others with facts, of the rest."""
_FACTS, _FACT, _MATCH = 2, 160, 110


class CodeTools:
    """Answers a model's calls, numbers what they show, and turns shown lines into evidence."""

    def __init__(
        self, code: CodePort, known: Sequence[str], listener: Callable[[str, str], None], query: Query | None = None
    ) -> None:
        """Start with nothing shown.

        The known evidence is given by its keys in the order of its numbers; the lines of a sketched file are compared
        with the query.
        """
        self._code, self._listener, self._query = code, listener, query or Query()
        self._known = {key: number for number, key in enumerate(known, 1)}
        self.shown: dict[str, Shown] = {}
        """What was shown, by its number."""
        self._answered: dict[ToolCall, str] = {}
        self._cited: dict[str, NumberedEvidence] = {}
        self.shortened: list[str] = []
        """Citations of which only the first lines count, each as a sentence."""
        self.lines: list[str] = []
        """One line per call: the question and the answer."""

    @property
    def gathered(self) -> tuple[NumberedEvidence, ...]:
        """The evidence that was cited or shown as a place, and was not known before."""
        return tuple(self._cited.values())

    @property
    def paths(self) -> frozenset[str]:
        """The files of which lines were shown."""
        return frozenset(shown.path for shown in self.shown.values() if shown.path)

    def list_files(self, cards: Sequence[FileCard]) -> str:
        """Show the first files of the search: their facts, and the lines of each that match the issue."""
        details = [
            _FIRST if at < _FIRST_FILES else _CHECKED if card.facts else _OTHERS for at, card in enumerate(cards)
        ]
        return "\n".join(self._card(card, *detail) for card, detail in zip(cards, details, strict=True))

    def _card(self, card: FileCard, places: int, matches: int) -> str:
        sketch, lines, best = card.sketch, dict[int, str](), 0
        for place in sketch.places[:places]:
            where = place.location
            symbol = place.signature or where.symbol or ""
            lines |= {where.start_line: f"{symbol[:_MATCH]} (to {where.end_line})"} if symbol else {}
            lines |= {number: f"  {text[:_MATCH]}" for number, text in place.matches[:matches]}
            best = best or where.quote_start
        number = self._number(Shown(sketch.path, frozenset(lines), best or 1))
        facts = [f"  checked: {text[:_FACT]}" for text in card.facts[:_FACTS]]
        shown = [f"  {line}: {text}" for line, text in sorted(lines.items())]
        return mask("\n".join((f"{number} {sketch.path}", *facts, *shown)))

    def take(self, evidence: Sequence[Evidence]) -> tuple[NumberedEvidence, ...]:
        """Number evidence that the program found itself; it counts as gathered."""
        return tuple(map(self._evidence, evidence))

    def quote(self, evidence: Sequence[NumberedEvidence], tokens: int) -> str:
        """Show lines that were gathered before, in at most about this many tokens."""
        passages = tuple(
            Passage(
                str(where.path), where.start_line or 1, where.end_line or 1, item.evidence.quote, item.evidence.symbol
            )
            for item in evidence
            if item.evidence.kind == "code" and (where := item.evidence.locator)
        )
        return "\n".join(self._blocks(ToolAnswer("", passages), tokens))

    async def use(self, call: ToolCall, tokens: int) -> str:
        """Answer a call in at most about this many tokens; a repeated call refers to its first answer."""
        self._listener("codebase_search", _plain(f"{call.tool} {call.what or call.path}")[:_ASKED])
        if call in self._answered:
            return f"The same call was answered before: {self._answered[call]}"
        answer = await self._code.use_tool(call)
        heading = _asked(call)
        if not (answer.passages or answer.changes):
            # That nothing matches is a finding, and so is what a folder has.
            heading = f"{self._number(Shown(lookup=as_lookup(call, answer, self._code.sha)))} {heading}"
        text = "\n".join((heading, mask(answer.note), *self._blocks(answer, tokens, read=True)))
        self._answered[call] = answer.note[:_LINE]
        if len(self.lines) < _NOTED:
            self.lines.append(_plain(f"{_asked(call)[:60]} → {answer.note}")[:_ASKED])
        return text

    def _blocks(self, answer: ToolAnswer, tokens: int, *, read: bool = False) -> Iterator[str]:
        """Yield the parts of an answer that fit."""
        tokens -= estimate(answer.note) + 20
        names = ", ".join(answer.names)
        if names:
            yield mask(names)[: max(0, tokens) * 3]
        for sha, day, subject in answer.changes:
            yield f"{self._number(Shown(commit=(sha, subject)))} {sha[:12]} {day} {mask(subject)[:_LINE]}"
        if answer.diff:
            changed, left = _within([line[:_LINE] for line in mask(answer.diff).splitlines()], tokens)
            yield "\n".join((*changed, *((f"… {left} more lines do not fit.",) if left else ())))
        for path, passages in groupby(answer.passages, lambda item: item.path):
            lines, left = _fitting(list(passages), tokens)
            if not lines:
                yield "… the rest does not fit: ask for less at a time."
                return
            tokens -= sum(estimate(text) + 2 for _, text in lines) + 12
            number = self._number(Shown(path, frozenset(line for line, _ in lines), lines[0][0], read=read))
            yield "\n".join((f"{number} {path}", *(text for _, text in lines)))
            if left:
                yield f"… {left} more lines do not fit; read from line {lines[-1][0] + 1}."

    async def cite(self, reference: str) -> NumberedEvidence | None:
        """Return the lines that a reference such as ``E7:41-43`` names as evidence; None if they were not shown."""
        found = _REFERENCE.fullmatch(reference.lstrip(" []()`,;").rstrip(" []()`,;."))
        if found is None:
            return None
        name, start, end = found[1], int(found[2] or 0), int(found[3] or 0)
        shown = self.shown.get(name) or self._by_name(name, start)
        if shown is None:
            return None
        if shown.lookup is not None:
            return self._evidence(shown.lookup)
        if shown.commit is not None:
            sha, subject = shown.commit
            return self._evidence(Evidence(kind="commit", locator=Locator(sha=sha), quote=subject, reasons=(READ,)))
        # Another answer may have shown the rest of the range.
        known = frozenset[int]().union(*(seen.lines for seen in self.shown.values() if seen.path == shown.path))
        first, last = start or shown.first, end or start or shown.first
        inside = sorted(line for line in known if first <= line <= last)
        return await self._quoted(shown.path, inside, last) if inside else None

    async def _quoted(self, path: str, lines: Sequence[int], end: int) -> NumberedEvidence | None:
        """Quote lines of a file from the commit; what was shown is never trusted."""
        last = min(lines[-1], lines[0] + _CITED_LINES - 1)
        if last < end and len(self.shortened) < _NOTED:
            self.shortened.append(f"Of the cited lines up to {end} of `{path[:_ASKED]}`, those up to {last} count.")
        lookup = await self._code.lines(path, lines[0], last)
        found = lookup.passages[0] if lookup is not None and lookup.passages else None
        if found is None or not is_citable(found.path, found.quote):
            return None
        return self._evidence(quoted(found, self._code.sha, _UNRANKED, READ))

    def _by_name(self, name: str, line: int) -> Shown | None:
        """Return what was shown of a file, or of a commit, that a reference names itself."""
        for shown in self.shown.values():
            if shown.commit is not None and len(name) >= 8 and shown.commit[0].startswith(name):
                return shown
            if shown.path and (shown.path == name or shown.path.endswith(f"/{name}")) and (line in shown.lines):
                return shown
        return None

    def was_read(self, evidence: Evidence) -> bool:
        """Return whether the model asked for lines of this evidence; that the search listed them is not enough."""
        where = evidence.locator
        lines = range(where.start_line or 0, (where.end_line or 0) + 1)
        asked = (shown.lines for shown in self.shown.values() if shown.read and shown.path == where.path)
        return any(not read.isdisjoint(lines) for read in asked)

    async def ranked(self, limit: int) -> tuple[str, ...]:
        """Return the paths of the search's first files."""
        ranking = await self._code.find(replace(self._query, limit=limit))
        return tuple(hit.path for hit in ranking.files)

    async def sketched(self, names: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return sketches of the files that paths and names of definitions identify; unknown ones are left out."""
        paths: list[str] = []
        for name in (name.strip(" `'\"") for name in names[:_NAMES]):
            if _FILE_NAME.search(name):
                paths.append(name)
            elif name_parts(name):
                paths += [passage.path for passage in (await self._code.definitions(name)).passages[:_FILES_OF_A_NAME]]
        return await self._code.sketches(self._query, tuple(dict.fromkeys(paths))) if paths else ()

    def show(self, place: PlaceSketch) -> NumberedEvidence | None:
        """Turn a place of a sketch into evidence; None if its lines cannot be quoted."""
        where = place.location
        if not is_citable(where.path, where.quote):
            return None
        return self._evidence(as_evidence(where, self._code.sha, _UNRANKED))

    def _number(self, shown: Shown) -> str:
        # Higher than every number of an earlier conversation, so that the lines it showed keep their numbers.
        name = f"E{len(self._known) + len(self.shown) + 1}"
        self.shown[name] = shown
        return name

    def _evidence(self, evidence: Evidence) -> NumberedEvidence:
        """Number evidence after all that is known, in the order in which it is cited, as the supervisor will."""
        number = self._known.get(evidence.key)
        if number is not None:
            return NumberedEvidence(id=f"E{number}", evidence=evidence)
        name = f"E{len(self._known) + len(self._cited) + 1}"
        return self._cited.setdefault(evidence.key, NumberedEvidence(id=name, evidence=evidence))


def _fitting(passages: Sequence[Passage], tokens: int) -> tuple[list[tuple[int, str]], int]:
    """Return the numbered lines of one file that fit, and how many do not."""
    lines, symbol = list[tuple[int, str]](), None
    for passage in passages:
        for number, text in enumerate(passage.quote.split("\n"), passage.start_line):
            owner = f" in {passage.symbol}" if passage.symbol and passage.symbol != symbol else ""
            symbol = passage.symbol or symbol
            lines.append((number, f"{number}{owner}: {mask(text.rstrip())[:_LINE]}"))
    texts, left = _within([text for _, text in lines], tokens)
    return lines[: len(texts)], left


def _within(lines: Sequence[str], tokens: int) -> tuple[Sequence[str], int]:
    """Return the lines that fit, and how many do not; a few last ones, at most an eighth of these, fit always."""
    for number, line in enumerate(lines):
        tokens -= estimate(line) + 2
        if tokens < 0 and len(lines) - number > min(_FEW, number // 8):
            return lines[:number], len(lines) - number
    return lines, 0


def _asked(call: ToolCall) -> str:
    lines = f" {call.start_line}-{call.end_line}" if call.tool == "read" and call.start_line else ""
    return _plain(" ".join(filter(None, (call.tool, call.what[:_ASKED], call.path[:_ASKED]))) + lines)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in mask(text))
