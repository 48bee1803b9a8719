"""Identify authors of commits: names as in the repository's mailmap, never an email address."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ENTRY = re.compile(r"([^<>]{0,200})<([^<>]{0,200})>")
_NOREPLY = re.compile(r"(?:\d{1,20}\+)?([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))@users\.noreply\.[A-Za-z0-9.-]{1,100}")
_ADDRESS = re.compile(r"[^\s@<>]{1,100}@[^\s@<>]{1,200}")
_BOT = re.compile(
    r"\[bot\]|(?:^|[\s_-])bot$|^(?:dependabot|renovate|greenkeeper|github[- ]actions?|pre-commit-ci|pyup|imgbot|"
    r"weblate|transifex|travis|jenkins|semantic-release|allcontributors|mergify|bors|homu|codecov|snyk)\b",
    re.IGNORECASE,
)
UNKNOWN = "someone without a name"


@dataclass(frozen=True, slots=True)
class Mailmap:
    """Maps the identity in a commit to a person's proper identity, as git does."""

    by_address: dict[str, tuple[str, str]] = field(default_factory=dict)
    by_name_and_address: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def proper(self, name: str, address: str) -> tuple[str, str]:
        """Return the proper (name, address); parts without an entry stay unchanged."""
        key = address.lower()
        found = self.by_name_and_address.get((name.lower(), key)) or self.by_address.get(key) or ("", "")
        return found[0] or name, found[1] or address


def parse_mailmap(text: str) -> Mailmap:
    """Parse a ``.mailmap``: proper name and address, and the commit name and address that they replace."""
    mailmap = Mailmap()
    for raw in text.split("\n"):
        found = _ENTRY.findall(raw.split("#", 1)[0][:1_000])
        if not found:
            continue
        (name, address), (old_name, old_address) = found[0], found[1] if len(found) > 1 else ("", "")
        entry = (" ".join(name.split()), address.strip() if old_address else "")
        written = (old_address or address).strip().lower()
        if old_name.strip():
            mailmap.by_name_and_address[" ".join(old_name.split()).lower(), written] = entry
        else:
            before = mailmap.by_address.get(written, ("", ""))
            mailmap.by_address[written] = (entry[0] or before[0], entry[1] or before[1])
    return mailmap


def shown(name: str, address: str) -> str:
    """Return a person's public name: the login of a GitHub noreply address, else the name without any address."""
    login = _NOREPLY.fullmatch(address.strip())
    if login:
        return login[1]
    clean = " ".join(_ADDRESS.sub("", name).split())
    return clean[:80] or UNKNOWN


def is_bot(name: str, address: str) -> bool:
    """Return whether a bot made the commit."""
    return bool(_BOT.search(name.strip()) or "[bot]" in address)
