"""Separate repositories: a key of another repository is a bug, and is refused."""

from __future__ import annotations

from dataclasses import dataclass


class ForeignKeyError(RuntimeError):
    """A key of one repository was used under another."""


@dataclass(frozen=True, slots=True)
class Tenant:
    """One repository, by its immutable key."""

    repository_key: str

    def own(self, issue_key: str) -> str:
        """Return the key if it is an issue of this repository.

        Raises:
            ForeignKeyError: it is another's.
        """
        if not issue_key.startswith(f"{self.repository_key}#"):
            raise ForeignKeyError(f"{issue_key} is not in {self.repository_key}")
        return issue_key

    def issue(self, number: int) -> str:
        """Return the key of one of its issues."""
        return f"{self.repository_key}#{number}"
