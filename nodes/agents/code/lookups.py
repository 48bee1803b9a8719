"""A model's lookups in the repository: the engine answers them, within limits of number and size."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from nodes.brains.calls.tokens import LOOK, estimate
from nodes.brains.opening import fitted_body
from nodes.context import CodePort, LookupResult
from nodes.evidence import MAX_QUOTE, Evidence, Locator, NumberedEvidence, as_evidence, is_citable
from nodes.judgements import LOOK_KINDS, LOOKS, Look
from nodes.search.reading.lookups import name_parts
from nodes.search.tokens import query_terms
from nodes.search.types import FileSketch, Lookup, Passage, PlaceSketch, Query
from nodes.trust.secrets import mask

_HEADING = 12
"""Tokens in addition to path, name and quote."""


def fitted(passage: Passage, tokens: int) -> Passage:
    """Shorten a passage to the leading whole lines that fit. The first line stays, so the caller checks the size."""
    lines = passage.quote.split("\n")
    while len(lines) > 1 and (
        size_of(passage) > tokens or len(passage.quote) > MAX_QUOTE or not passage.quote.split("\n")[-1].strip()
    ):
        lines.pop()
        quote = "\n".join(lines).removesuffix("\r")
        passage = replace(passage, quote=quote, end_line=passage.start_line + len(lines) - 1)
    return passage


def size_of(passage: Passage) -> int:
    """Estimate a passage's tokens; a passage that cannot be quoted gets a size that fits no answer."""
    if not is_citable(passage.path, passage.quote):
        return 10 * LOOK
    return _HEADING + estimate(f"{passage.path} {passage.symbol or ''}\n{passage.quote}")


MAX_LINES = 60
"""A wider range is refused; an answer has room for about 25 lines."""
_FENCE = 90
"""Tokens of an answer outside its passages."""
_ASKED, _LINE = 70, 120
_NAMES, _FILES_OF_A_NAME = 4, 2
_FILE_NAME = re.compile(r"/|\w\.[A-Za-z]\w{0,4}$")
_UNRANKED = 0.3
"""The score of a place that is not among the first places of any search of the commit."""


class Refused(Exception):  # noqa: N818  an answer like any other, in few words
    """A lookup that is not answered; the message gives the reason."""


class CodeLookups:
    """Answers a model's lookups, four in total, and numbers the evidence that they find."""

    def __init__(
        self,
        code: CodePort,
        known: Sequence[str],
        candidates: Collection[str],
        listener: Callable[[str, str], None],
        query: Query | None = None,
    ) -> None:
        """Start without any lookup.

        Args:
            code: the repository at the run's commit.
            known: keys of all existing evidence, in the order of its numbers.
            candidates: the keys among them that the current search found.
            listener: receives a progress message for each lookup.
            query: what the lines of a sketched file are compared with.
        """
        self._query = query or Query()
        self._code = code
        self._numbers = {key: number for number, key in enumerate(known, 1)}
        self._candidates = frozenset(candidates)
        self._listener = listener
        self._gathered: dict[str, NumberedEvidence] = {}
        self._before: dict[tuple[str, str, int, int], tuple[int, LookupResult]] = {}
        self.listed: tuple[str, ...] = ()
        """Files that were shown after those of the first list."""
        self.lines: list[str] = []
        """One line per lookup: the question and the answer."""
        self.refused = 0

    @property
    def gathered(self) -> tuple[NumberedEvidence, ...]:
        """The evidence found in addition to the candidates, in the order of the lookups."""
        return tuple(self._gathered.values())

    @property
    def remaining(self) -> int:
        """The number of lookups left."""
        return LOOKS - len(self.lines)

    async def look_up(self, look: Look) -> LookupResult:
        """Answer or refuse a lookup; both count against the limit. A repeated lookup refers to the first answer."""
        what = look.what.strip()
        key = (look.kind, what, look.start_line, look.end_line)
        number = len(self.lines) + 1
        self._listener("codebase_search", f"look {number} of {LOOKS}")
        # Models repeat themselves; a reference costs few tokens, and the repetition still counts as a lookup.
        if key in self._before:
            first, result = self._before[key]
            names = ", ".join(item.id for item in result.found)
            self._note(look, f"as look {first}")
            return LookupResult(note=f"The same as look {first}: {names or result.note}")
        try:
            result = await self._answer(look, what)
        except Refused as refusal:
            result = LookupResult(note=f"Refused: {refusal}.")
            self.refused += 1
        self._before[key] = (number, result)
        self._note(look, ", ".join(item.id for item in result.found) or result.note)
        return result

    async def sketched(self, names: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return sketches of the files that paths and names of definitions identify; unknown ones are left out."""
        paths: list[str] = []
        for name in (name.strip(" `'\"") for name in names[:_NAMES]):
            if _FILE_NAME.search(name):
                paths.append(name)
            elif name_parts(name):
                paths += [passage.path for passage in (await self._code.definitions(name)).passages[:_FILES_OF_A_NAME]]
        return await self._code.sketches(self._query, tuple(dict.fromkeys(paths))) if paths else ()

    async def next_files(self, listed: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return sketches of as many further files as were listed, in search order; fewer if the search has no more."""
        ranking = await self._code.find(replace(self._query, limit=2 * len(listed)))
        paths = [hit.path for hit in ranking.files if hit.path not in set(listed)][: len(listed)]
        self.listed = tuple(paths)
        return await self._code.sketches(self._query, paths) if paths else ()

    def show(self, place: PlaceSketch) -> NumberedEvidence | None:
        """Turn a place of a sketch into evidence; None if its lines cannot be quoted."""
        where = place.location
        if not is_citable(where.path, where.quote):
            return None
        return self._numbered(as_evidence(where, self._code.sha, _UNRANKED))

    async def body(self, place: PlaceSketch, tokens: int) -> str:
        """Return the text of a sketched place, whole if it fits; empty if it cannot be read."""
        where = place.location
        text = await self._code.read(where.path, where.start_line, where.end_line)
        if text is None:
            return ""
        return fitted_body(text.split("\n"), where.start_line, (where.quote_start, where.quote_end), tokens)

    async def _answer(self, look: Look, what: str) -> LookupResult:
        if look.kind not in LOOK_KINDS:
            raise Refused(f"a lookup is one of {', '.join(LOOK_KINDS)}")
        if not what:
            raise Refused("it has no content")
        if look.kind == "open":
            return await self._open(what, look.start_line, look.end_line)
        if look.kind == "words":
            return await self._words(what)
        return await self._name(what, definition=look.kind == "definition")

    async def _open(self, path: str, start: int, end: int) -> LookupResult:
        if not 1 <= start <= end:
            raise Refused("open needs start_line and end_line, counted from 1")
        if end - start >= MAX_LINES:
            raise Refused(f"at most {MAX_LINES} lines at a time")
        lookup = await self._code.lines(path, start, end)
        if lookup is None:
            raise Refused("the commit has no text file of that path")
        if start > lookup.total:
            raise Refused(f"the file has {lookup.total} lines")
        found = self._gather(lookup, "opened by the model")
        if not found:
            return LookupResult(note="These lines contain nothing that can be quoted.")
        return LookupResult(found, _cut(found, lookup))

    async def _name(self, name: str, *, definition: bool) -> LookupResult:
        if not name_parts(name):
            raise Refused("that is not a name; give one identifier, dotted or not")
        ask: Callable[[str], Awaitable[Lookup]] = self._code.definitions if definition else self._code.references
        lookup = await ask(name)
        found = self._gather(lookup, f"the model looked up what {'defines' if definition else 'uses'} `{name[:80]}`")
        what = "definitions" if definition else "uses"
        if not lookup.total:
            return LookupResult(note=f"No {what} with that name.")
        shown = f"{len(found)} of {lookup.total} {what}." if len(found) < lookup.total else ""
        return LookupResult(found, " ".join(filter(None, (_cut(found, lookup), shown))))

    async def _words(self, text: str) -> LookupResult:
        if not query_terms(text):
            raise Refused("it contains no word to search for")
        lookup = await self._code.words(text)
        return LookupResult(
            self._gather(lookup, "found by words that the model chose"), "" if lookup.total else "No match."
        )

    def _gather(self, lookup: Lookup, reason: str) -> tuple[NumberedEvidence, ...]:
        """Turn the passages that fit into one answer into evidence."""
        room, found = LOOK - _FENCE, list[NumberedEvidence]()
        for place, passage in enumerate(lookup.passages):
            # Each passage may use an equal part of the remaining space, so short passages leave space for later ones.
            whole = fitted(passage, room // (len(lookup.passages) - place))
            room -= size_of(whole)
            if room < 0:
                break
            found.append(self._keep(whole, reason))
        return tuple(found)

    def _keep(self, passage: Passage, reason: str) -> NumberedEvidence:
        where = Locator(path=passage.path, start_line=passage.start_line, end_line=passage.end_line, sha=self._code.sha)
        evidence = Evidence(
            kind="code", locator=where, symbol=passage.symbol, quote=passage.quote, reasons=(mask(reason),)
        )
        return self._numbered(evidence)

    def _numbered(self, evidence: Evidence) -> NumberedEvidence:
        number = self._numbers.setdefault(evidence.key, len(self._numbers) + 1)
        item = NumberedEvidence(id=f"E{number}", evidence=evidence)
        if evidence.key not in self._candidates:
            self._gathered[evidence.key] = item
        return item

    def _note(self, look: Look, answer: str) -> None:
        """Add a line to the trace. The text is masked because the model may have written anything."""
        lines = f":{look.start_line}-{look.end_line}" if look.kind == "open" else ""
        key = _plain(f"{look.kind} {look.what}{lines}")[:_ASKED]
        self.lines.append(f"{key} → {_plain(answer)}"[:_LINE])


def _cut(found: Sequence[NumberedEvidence], lookup: Lookup) -> str:
    """Name the passages that were cut, and the line at which each one ends in the file."""
    ends = zip(found, (passage.ends for passage in lookup.passages), strict=False)
    longer = (
        f"{item.id} continues to line {end}." for item, end in ends if end > (item.evidence.locator.end_line or 0)
    )
    return " ".join(longer)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in mask(text))
