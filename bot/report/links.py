"""Links to places in the code: permalinks if the repository has a URL, plain line numbers otherwise."""

import re
from dataclasses import dataclass
from urllib.parse import quote as url_quote

from bot.report.sanitise import code
from nodes.report import Suspect

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
SHA = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Links:
    """Builds all links of a comment from verified parts."""

    server_url: str
    repository: str
    commit: str

    def place(self, suspect: Suspect) -> str:
        """Return a suspect's file, lines and symbol."""
        lines = f"L{suspect.start_line}-L{suspect.end_line}"
        shown = lines if suspect.start_line != suspect.end_line else f"L{suspect.start_line}"
        symbol = f" {code(suspect.symbol)}" if suspect.symbol else ""
        address = self.lines(suspect.path, suspect.start_line, suspect.end_line, self.commit)
        if address is None:
            return f"{code(suspect.path)} {shown}{symbol}"
        return f"[{code(suspect.path.rsplit('/', 1)[-1])} {shown}]({address}){symbol}"

    def change_of(self, sha: str) -> str:
        """Return a commit by its short SHA."""
        address = self.commit_page(sha)
        return f"[{code(sha[:7])}]({address})" if address else code(sha[:12])

    def lines(self, path: str, start: int, end: int, sha: str) -> str | None:
        """Return the URL of lines (1-based, inclusive) at a commit, or None if the repository has no URL."""
        file = self.file(path, sha)
        return f"{file}#L{start}-L{end}" if file else None

    def file(self, path: str, sha: str) -> str | None:
        """Return the URL of a file at a commit, or None if the repository has no URL."""
        base, quoted = self._base(sha), _quoted(path)
        return f"{base}/blob/{sha}/{quoted}" if base and quoted else None

    def commit_page(self, sha: str) -> str | None:
        """Return the URL of a commit."""
        base = self._base(sha)
        return f"{base}/commit/{sha}" if base else None

    def _base(self, sha: str) -> str | None:
        if not (_REPOSITORY.fullmatch(self.repository) and SHA.fullmatch(sha)):
            return None
        return f"{self.server_url.rstrip('/')}/{self.repository}"


def _quoted(path: str) -> str:
    """Return a git path quoted for a URL; empty if git cannot have such a path."""
    try:
        return url_quote(path.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return ""
