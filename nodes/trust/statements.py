"""Check each statement of a draft or a submission: supported ones stay, others are dropped with a reason."""

import re
from collections.abc import Iterable, Mapping, Sequence

from nodes.context.brain import ToolPort
from nodes.evidence import Evidence
from nodes.judgements import CauseSentence, CodeReading, DraftSuspect, Submission, Submit, SubmittedPlace
from nodes.sources.protocol import OUTSIDE
from nodes.trust.prose import split

TOO_ALIKE = 0.7
"""Minimum share of a sentence's word sequences that occur in the issue for the sentence to count as a repetition."""
_SEQUENCE = 4  # words in a row; any two texts about one subject share shorter sequences
_WORD = re.compile(r"\w+")
_CITATION = re.compile(r"\[[^\[\]\n]{1,80}\]")
_FROM_PEOPLE = frozenset({"issue", "trace", "human"})
"""Kinds of evidence that people wrote into the thread."""
_CERTAIN = re.compile(
    r"\b(?:definitely|certainly|undoubtedly|unquestionably|guaranteed|proven|proves|verified|beyond doubt|no doubt)\b"
    r"|\b100 ?%",
    re.IGNORECASE,
)
"""Claims of certainty; a cause remains a hypothesis until someone runs the code."""
_OF_ITSELF = re.compile(
    r"\b(?:this|my|our|the above) (?:analysis|answer|assessment|conclusion|finding|investigation|report|triage)\b",
    re.IGNORECASE,
)
"""Phrases that assess the report itself instead of the code."""
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_LINES = re.compile(r"\blines? (\d{1,7})(?: ?(?:-|\u2013|to|and) ?(\d{1,7}))?", re.IGNORECASE)
_SHORT = 3
_NAME = re.compile(r"[^\W\d]\w*")
_WORD_OF_LANGUAGES = re.compile(
    r"None|True|False|null|nil|undefined|true|false|self|this|new|not|and|or|in|is|if|else|return|await|raise|throw"
)
HEDGES = ("insufficient evidence", "lack sufficient evidence", "partially covers", "not provided", "cannot provide")
"""Sentences with these phrases claim nothing and need no citation (SPEC section 6)."""
CITED = re.compile(r"\bE\d{1,6}\b")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,80})\](?!\()")
_REFERENCE = re.compile(r"\s?\[(E\d{1,6}(?::[\d \-]{1,20})?)\]")
_PATH = re.compile(r"(?<![\w./-])[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")
_DISTINCT = 4
"""Minimum number of characters of a name that identifies code."""


class IssueEcho:
    """The text of an issue, to check whether a sentence repeats it."""

    def __init__(self, text: str) -> None:
        self._sequences = frozenset(_sequences(text))

    def share(self, sentence: str) -> float:
        """Return the share of a sentence's word sequences that are the reporter's; 0 if it is too short for any."""
        sequences = list(_sequences(_CITATION.sub(" ", sentence)))
        return sum(sequence in self._sequences for sequence in sequences) / max(1, len(sequences))


class EvidenceBasis:
    """The basis of statements: the confirmed evidence and the reporter's text."""

    def __init__(self, standing: Mapping[str, Evidence], issue: str, read: Iterable[Evidence] = ()) -> None:
        """Use the confirmed evidence, the issue, and all code that the run read."""
        self._standing = standing
        self._issue = issue
        self._read = tuple(item for item in read if item.kind == "code")
        self._echo = IssueEcho(issue)

    def fault(self, statement: str, cited: Sequence[str] | None = None) -> str | None:
        """Return the reason why a statement that cites these numbers must not be published, or None.

        One that is shown without citations may name any confirmed evidence of the repository.
        """
        named = [item for item in self._standing.values() if item.kind not in OUTSIDE]
        # Only the first fault is reported, so missing evidence comes before all that depends on it.
        if cited is not None and not set(cited) <= set(self._standing):
            return "evidence does not hold"
        if cited is not None:
            named = [self._standing[name] for name in cited]
        if cited and only_reported(named):
            return "rests on the report alone"
        if cited and all(item.kind in OUTSIDE for item in named):
            return "rests only on sources outside the repository"
        found = fault_of(statement, named, self._issue, self._read)
        repeats = self._echo.share(statement) >= TOO_ALIKE
        return found or ("the report says so itself" if repeats else None)

    def attributed(self, sentence: str) -> str:
        """Return a sentence that cites only the report with the code that it names, if confirmed evidence has that.

        Such a sentence explains a message by a mechanism; without the code it would only repeat the reporter.
        """
        cited = [self._standing[name] for name in cited_in(sentence) if name in self._standing]
        if not cited or not only_reported(cited):
            return sentence
        spans = [_squeezed(span).removesuffix("()") for span in _SPAN.findall(sentence)]
        code = ((name, item) for name, item in self._standing.items() if item.kind == "code")
        texts = ((name, _squeezed(f"{item.quote} {item.symbol or ''}")) for name, item in code)
        named = [name for name, text in texts if any(span in text for span in spans if len(span) >= _DISTINCT)]
        return f"{sentence.rstrip('.')} [{', '.join(named[:2])}]." if named else sentence

    def program_reason(self, number: str) -> str:
        """Return the search engine's reasons for a piece of evidence."""
        evidence = self._standing[number]
        return "; ".join([reason for reason in evidence.reasons if reason != f"in {evidence.locator.path}"][:2])[:300]


class Concluded:
    """Turns a submission into a reading: only evidence and files that were shown to the model remain."""

    def __init__(self, tools: ToolPort, issue: str) -> None:
        self._tools, self._paths, self._issue = tools, tools.paths, issue
        self._read_first: bool | None = None
        self.dropped = 0
        """References that name nothing that was shown, and sentences that name or cite nothing else."""

    async def reading(self, submit: Submit) -> CodeReading:
        """Return the reading that the submission is worth."""
        cause = [await self._sentence(item) for item in submit.cause]
        places = [place for item in submit.places if (place := await self._place(item)) is not None]
        rival = await self._place(submit.rival) if submit.rival and submit.rival.evidence else None
        against = (await self._cited(submit.against) if submit.against and rival else None) or ""
        submitted = Submission(
            cause=tuple(filter(None, cause)),
            verdict=verdict if self._holds(verdict := _REFERENCE.sub("", submit.verdict).strip()) else "",
            places=tuple({place.evidence: place for place in places}.values()),
            rival=rival,
            against=against,
            confirm=submit.confirm if self._holds(submit.confirm) else "",
        )
        suspects = tuple(place.evidence for place in submitted.places)
        texts = [" ".join((item.text, *(f"[{name}]" for name in item.evidence))) for item in submitted.cause]
        summary = texts[0] if texts else "None of the places that were read explains the issue."
        return CodeReading(
            summary=summary[:300],
            details=" ".join(texts[1:])[:600],
            suspects=suspects,
            confidence=submit.confidence if suspects else 0.0,
            submitted=submitted,
            has_read_first=self._read_first if suspects else None,
        )

    async def _sentence(self, one: CauseSentence) -> CauseSentence | None:
        """Return the sentence with what it may cite; None if it names or cites what was not shown."""
        text = _REFERENCE.sub("", one.text)
        references = (*one.evidence, *_REFERENCE.findall(one.text))
        ids = [name for reference in references if (name := await self._cited(reference)) is not None]
        if (references and not ids) or not self._holds(text):
            self.dropped += 1
            return None
        return CauseSentence(text=text.strip(), evidence=tuple(dict.fromkeys(ids))[:4])

    async def _place(self, one: SubmittedPlace) -> SubmittedPlace | None:
        found, why = await self._tools.cite(one.evidence), _REFERENCE.sub("", one.why).strip()
        # A commit or an answer without matches may support a sentence, but it is not a place.
        if found is None or found.evidence.kind != "code":
            self.dropped += 1
            return None
        if self._read_first is None:
            self._read_first = self._tools.was_read(found.evidence)
        return SubmittedPlace(evidence=found.id, why=why if self._holds(why) else "")

    async def _cited(self, reference: str) -> str | None:
        found = await self._tools.cite(reference)
        self.dropped += found is None
        return None if found is None else found.id

    def _holds(self, sentence: str) -> bool:
        """Return whether a sentence cites nothing, and names only files that were shown or that the issue names."""
        paths = (path.rstrip(".") for path in _PATH.findall(sentence))
        named = [path for path in paths if _EXTENSION.search(path) and path not in self._issue]
        known = [f"/{path}" for path in self._paths]
        return not CITED.search(sentence) and all(any(file.endswith(f"/{path}") for file in known) for path in named)


def only_reported(cited: Iterable[Evidence]) -> bool:
    """Return whether all cited evidence was written into the thread, so that nothing new was found.

    Evidence with an address comes from another issue and is not part of this thread.
    """
    return all(item.kind in _FROM_PEOPLE and item.locator.url is None for item in cited)


def names(text: str, path: str, symbol: str | None) -> bool:
    """Return whether an issue names a place: its file, or the last part of its symbol as a separate word."""
    file = path.rpartition("/")[2]
    last = (symbol or "").rpartition(".")[2]
    is_distinct = len(last) > 3 and ("_" in last or last.lower() != last)
    return any(name and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in (file, last * is_distinct))


def fault_of(sentence: str, cited: Sequence[Evidence], issue: str, read: Iterable[Evidence] = ()) -> str | None:
    """Return what a sentence claims beyond the confirmed evidence that it cites, or None.

    Names that the reporter wrote, or that further evidence of the run has, need no citation.
    """
    if _CERTAIN.search(sentence):
        return "more certain than a reading of code can be"
    if _OF_ITSELF.search(sentence):
        return "judges itself"
    texts = "\n".join((issue, *(text for item in (*cited, *read) for text in _texts(item))))
    known = _squeezed(texts)
    for span in _SPAN.findall(sentence):
        names = {name for name in _NAME.findall(span) if not _WORD_OF_LANGUAGES.fullmatch(name)}
        # In a call with other arguments each name is a word of the known text.
        is_composed = bool(names) and names <= set(_NAME.findall(texts))
        if not is_composed and _squeezed(span).removesuffix("()") not in known:
            return "names code that is not in what it cites"
    for first, last in _LINES.findall(sentence):
        # Traces give line numbers in many formats, so any number that the reporter wrote counts.
        by_reporter = re.search(rf"(?<!\d){first}(?!\d)", issue)
        start, end, places = int(first), int(last or first), [item.locator for item in cited]
        if not by_reporter and not any((p.start_line or end + 1) <= start <= end <= (p.end_line or 0) for p in places):
            return "names lines outside what it cites"
    return None


def names_in(text: str) -> frozenset[str]:
    """Return the names in a text; short words of code are words of the language too."""
    return frozenset(name.casefold() for name in _NAME.findall(text) if len(name) > _SHORT)


def cited_in(text: str) -> list[str]:
    """Return the numbers of the evidence that a text cites in brackets, in order."""
    return [name for bracket in _BRACKETS.findall(text) for name in CITED.findall(bracket)]


def uncited(text: str) -> str:
    """Return a text without the numbers of the evidence that it cites."""
    bare = _BRACKETS.sub(lambda found: "" if CITED.search(found[1]) else found[0], text)
    return re.sub(r" {1,9}([.,;:])", r"\1", bare).strip()


def sentences(text: str, basis: EvidenceBasis) -> tuple[str, list[str], int]:
    """Return the supported sentences, the dropped ones with reasons, and the number of sentences without a citation."""
    supported, dropped, without = list[str](), list[str](), 0
    for sentence in map(basis.attributed, split(text)):
        cited = cited_in(sentence)
        if not cited and not any(hedge in sentence.lower() for hedge in HEDGES):
            without += 1
            dropped.append(f"no evidence cited: {sentence}")
        elif fault := basis.fault(sentence, cited):
            dropped.append(f"{fault}: {sentence}")
        else:
            supported.append(sentence)
    return " ".join(supported), dropped, without


def reasons(suspects: Sequence[DraftSuspect], basis: EvidenceBasis) -> tuple[tuple[DraftSuspect, ...], list[str]]:
    """Return the suspects, and the reasons that claim too much and were replaced by the program's own."""
    faults = [(suspect, basis.fault(suspect.why, [suspect.evidence])) for suspect in suspects]
    supported = (
        suspect.model_copy(update={"why": basis.program_reason(suspect.evidence)}) if fault else suspect
        for suspect, fault in faults
    )
    return tuple(supported), [f"{fault}: {suspect.why}" for suspect, fault in faults if fault]


def ruled_out(lines: Sequence[str], basis: EvidenceBasis) -> tuple[tuple[str, ...], list[str]]:
    """Return the supported lines and the dropped ones; ruling a place out is a claim and needs evidence."""
    cited = [(line, cited_in(line)) for line in lines]
    faults = [(line, basis.fault(line, ids) if ids else "no evidence cited") for line, ids in cited]
    dropped = [f"{fault}: {line}" for line, fault in faults if fault]
    return tuple(line for line, fault in faults if not fault), dropped


def headline(verdict: str, basis: EvidenceBasis) -> tuple[str, list[str]]:
    """Return a verdict fit for the headline, or an empty one so that the program writes it, and what was dropped."""
    # The headline is shown without its evidence.
    plain = uncited(verdict)
    fault = basis.fault(plain)
    return ("", [f"{fault}: {plain}"]) if fault else (plain, [])


def _sequences(text: str) -> Iterable[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return zip(*(words[start:] for start in range(_SEQUENCE)), strict=False)


def _texts(item: Evidence) -> Iterable[str]:
    where = item.locator
    span = f"{where.path}:{where.start_line}" if where.path else ""
    return (item.quote, where.path or "", span, where.sha or "", item.symbol or "", *item.reasons)


def _squeezed(text: str) -> str:
    """Remove white space, because a span may contain a line break."""
    return "".join(text.split())
