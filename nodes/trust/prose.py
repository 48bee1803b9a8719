"""Check a model's free prose, and drop sentences that name a place or symbol that does not exist."""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from nodes.context.ports import CodePort
from nodes.judgements import Draft
from nodes.search.lazy import lazy

_TEXTS = ("how_to_confirm", "severity_reason", "verdict", "root_cause")
MAX_LOOKUPS = 40
"""Names per draft that are looked up. A sentence with a further name is dropped without a lookup."""
_SPAN = lazy(r"`([^`\n]{1,200})`")
_TO = r"(\d{1,7})(?:(?:-L?|\u2013| to | and )(\d{1,7}))?"
_FILE = r"(?<![\w/.:@-])(/?(?:[\w.@-]{1,80}/){0,12}[\w@-]{1,80}(?:\.[\w-]{1,20}){0,3})"
_PLACE = lazy(rf"{_FILE}(?:(?::|#L|,? (?:at |on |in )?lines? ){_TO})?(?![\w/])")
_LINES_OF = lazy(rf"\blines? {_TO} (?:of|in) {_FILE}(?![\w/])")
_LINK = lazy(r"\[([^\[\]\n]{1,300})\]\([^()\s]{0,500}\)")
_ADDRESS = lazy(r"https?://[^\s<>()\[\]`\"']{1,500}")
_CODE_ADDRESS = lazy(r"/(?:blob|blame|raw|src)/|#L\d")
_FILE_NAME = lazy(r"[\w@-]{1,80}(?:\.[\w-]{1,20}){0,3}\.[A-Za-z][A-Za-z0-9]{0,7}")
_EXTENSION = lazy(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
_SYMBOL = lazy(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*(?:\(\))?")
_LOOKS_LIKE_CODE = lazy(r"_|\.|::|\(\)|[a-z][A-Z]")
_CODE_SPAN = lazy(r"`[^`\n]{1,400}`")
_END = lazy(
    r"[.!?][\"')]{0,3}(?:\s{0,3}\[[^\[\]\n]{1,80}\]){0,8}\s{1,20}(?=[A-Z`\"'(\[])"
    r"(?<!\be\.g\.\s)(?<!\bi\.e\.\s)(?<!\bcf\.\s)(?<!\bvs\.\s)(?!\[E\d)"
    r"|(?<=\d\])\.\s{1,20}(?=\w)"
)
"""The end of a sentence: its stop, then the citations after it, then white space before a capital or an opening mark.

A stop after a citation ends one before a small letter too: a sentence may begin with a name of the code. A citation
never begins a sentence, because it supports the one before it.
"""


class _Place(NamedTuple):
    text: str
    path: str
    start: int
    end: int


class ProseCheck:
    """Checks the sentences of one draft against a commit and against texts whose names may be repeated."""

    def __init__(self, code: CodePort, known: Sequence[str], paths: Sequence[str] = ()) -> None:
        """Check against a commit; names in known texts need no lookup, and ``paths`` may be shortened to their end."""
        self._code = code
        self._paths = paths
        # Without white space, because a name in prose may be wrapped.
        self._known = "".join("".join(known).split())
        self._looked_up: dict[str, bool] = {}
        self.dropped: list[str] = []

    async def draft(self, draft: Draft) -> Draft:
        """Return the draft without the sentences that fail."""
        return draft.model_copy(
            update={
                **{name: await self.text(getattr(draft, name)) for name in _TEXTS},
                **{name: await self.lines(getattr(draft, name)) for name in ("missing", "ruled_out", "labels")},
                "suspects": tuple(
                    [suspect.model_copy(update={"why": await self.text(suspect.why)}) for suspect in draft.suspects]
                ),
            }
        )

    async def lines(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Return the lines without these sentences, and without lines that had no other."""
        return tuple(filter(None, [await self.text(line) for line in lines]))

    async def text(self, text: str, *, is_posted: bool = False) -> str:
        """Return the text without the sentences that name something that does not exist.

        One that is posted as a question has no address that was not given, and is more than a link.
        """
        confirmed = []
        for sentence in split(text):
            if await self._unknown(sentence):
                self.dropped.append(f"names something that this commit does not contain: {sentence}")
            elif is_posted and not all(self._is_known(address) for address in _addresses(sentence)):
                self.dropped.append(f"names an address that was not given: {sentence}")
            else:
                confirmed.append(sentence)
        joined = " ".join(confirmed)
        has_words = any(letter.isalnum() for letter in _ADDRESS.sub("", _LINK.sub("", joined)))
        return joined if has_words or not is_posted else ""

    async def _unknown(self, sentence: str) -> bool:
        if any(_CODE_ADDRESS.search(address) and not self._is_known(address) for address in _addresses(sentence)):
            return True
        # Places are checked inside and outside code spans; symbols inside only, because prose has words like them.
        for place in _places(sentence.replace("`", " ")):
            if not await self._holds(place.text, partial(self._has_lines, place)):
                return True
        for span in _SPAN.findall(sentence):
            is_symbol = _SYMBOL.fullmatch(span) and _LOOKS_LIKE_CODE.search(span)
            if is_symbol and not await self._holds(span, partial(self._has_name, span)):
                return True
        return False

    async def _holds(self, name: str, look_up: Callable[[], Awaitable[bool]]) -> bool:
        if name not in self._looked_up:
            known = self._is_known(name.removesuffix("()"))
            self._looked_up[name] = known or (len(self._looked_up) < MAX_LOOKUPS and await look_up())
        return self._looked_up[name]

    def _is_known(self, name: str) -> bool:
        return "".join(name.split()) in self._known

    async def _has_lines(self, place: _Place) -> bool:
        paths = (place.path, *(path for path in self._paths if path.endswith(f"/{place.path}")))
        return any([await self._code.read(path, place.start, place.end) is not None for path in paths])

    async def _has_name(self, span: str) -> bool:
        """Return whether the name is defined or used in the commit, or is a file in the root folder."""
        name = re.split(r"\W+", span.removesuffix("()"))[-1]
        if (await self._code.definitions(name)).total or (await self._code.references(name)).total:
            return True
        return await self._code.read(span, 1, 1) is not None


def whole_sentences(text: str, limit: int) -> str:
    """Return as many of the first sentences as fit into ``limit`` characters; none is cut."""
    if len(text) <= limit:
        return text
    confirmed = ""
    for sentence in split(text):
        longer = f"{confirmed} {sentence}".strip()
        if len(longer) > limit:
            break
        confirmed = longer
    return confirmed


def split(text: str) -> list[str]:
    """Return the sentences of a text, stripped; a stop or a bracket inside a code span ends none."""
    # Spans are masked by letters of the same number, so that positions in both texts are equal.
    masked = _CODE_SPAN.sub(lambda found: f"`{'x' * (len(found[0]) - 2)}`", text)
    cuts = [0, *(found.end() for found in _END.finditer(masked)), len(text)]
    parts = (text[start:end].strip() for start, end in pairwise(cuts))
    return [part for part in parts if part]


def _places(text: str) -> Iterator[_Place]:
    """Yield what names a file: a path with an extension, a possible file with a line, or a file as a link's text."""
    for found in _PLACE.finditer(text):
        path, line = found[1].removeprefix("/"), found[2]
        # An absolute path without a line is one of the reporter's machine.
        is_path = "/" in path and bool(line or (_EXTENSION.search(path) and path == found[1]))
        if is_path or (line and _EXTENSION.search(path)):
            yield _Place(found[0], path, int(line or 1), int(found[3] or line or 1))
    for found in _LINES_OF.finditer(text):
        if _EXTENSION.search(found[3]):
            yield _Place(found[0], found[3].removeprefix("/"), int(found[1]), int(found[2] or found[1]))
    for found in _LINK.finditer(text):
        if _FILE_NAME.fullmatch(name := found[1].strip(" *_")):
            yield _Place(name, name, 1, 1)


def _addresses(text: str) -> list[str]:
    return [address.rstrip(".,;:!?*_") for address in _ADDRESS.findall(text)]
