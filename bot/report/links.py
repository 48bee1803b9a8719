"""Where a place can be read: a permalink where the repository has an address, plain lines where it has none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote as url_quote

from bot.report.sanitise import code
from nodes.report import Suspect, SuspectChange

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Links:
    """The only links a comment holds; each is built here from parts that were checked."""

    server_url: str
    repository: str
    commit: str

    def place(self, suspect: Suspect) -> str:
        """A suspect's file, lines and symbol."""
        lines = f"L{suspect.start_line}-L{suspect.end_line}"
        shown = lines if suspect.start_line != suspect.end_line else f"L{suspect.start_line}"
        symbol = f" {code(suspect.symbol)}" if suspect.symbol else ""
        base = self._base(self.commit)
        if base is None or not suspect.path:
            return f"{code(suspect.path)} {shown}{symbol}"
        path = url_quote(suspect.path.encode("utf-8", "surrogateescape"))
        address = f"{base}/blob/{self.commit}/{path}#{lines}"
        return f"[{code(suspect.path.rsplit('/', 1)[-1])} {shown}]({address}){symbol}"

    def change(self, change: SuspectChange) -> str:
        """A commit by its short SHA."""
        base = self._base(change.sha)
        return f"[{code(change.sha[:7])}]({base}/commit/{change.sha})" if base else code(change.sha[:12])

    def _base(self, sha: str) -> str | None:
        if not (_REPOSITORY.fullmatch(self.repository) and _SHA.fullmatch(sha)):
            return None
        return f"{self.server_url.rstrip('/')}/{self.repository}"
