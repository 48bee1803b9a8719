"""Finds the messages of a program: error messages, and phrases that a reporter quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.search.issue.mentions.markdown import lines

_MAX_MESSAGE = 300
_ERROR = re.compile(
    r"(?:[\w$]{1,80}[.:\\]{1,2}){0,10}\w{0,80}(?:Error|Exception|Warning|Panic|Fault|Failure)(?:\[\w{1,20}\])?: ?(\S.*)"
)
_SAYS = re.compile(r"\b(?:fatal error|fatal|error|panic|err|failed|failure)(?:\[\w{1,20}\])?: (\S.*)", re.IGNORECASE)
_PHRASE = re.compile(r"\"([^\"\n]{8,300})\"|“([^”\n]{8,300})”|(?<![\w`'])'([^'\n]{8,300})'(?!\w)")


def find_messages(text: str, prose: str) -> Iterator[str]:
    """Yield the messages of the whole text, then the phrases that its prose quotes."""
    for raw in lines(text):
        line = raw.strip()
        # A typed error is at the beginning of its line; "error: …" may follow a path or a program's name.
        error = _ERROR.match(line) or _SAYS.search(line)
        if error:
            yield error[1].strip(" `*\"'")[:_MAX_MESSAGE]
    for line in lines(prose):
        for groups in _PHRASE.findall(line):
            phrase = "".join(groups).strip()
            # Quotes around one or two words are mostly names or emphasis.
            if len(phrase.split()) >= 3:
                yield phrase
