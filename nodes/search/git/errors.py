"""Errors of a repository that cannot be searched; each message says what to fix."""

from __future__ import annotations


class SearchError(Exception):
    """The repository or the revision cannot be searched as given."""


class NotARepository(SearchError):  # noqa: N818 - callers catch it by the condition's name
    """The path does not exist or contains no git repository."""


class EmptyRepository(SearchError):  # noqa: N818 - see NotARepository
    """The repository has no commits."""


class UnknownRevision(SearchError):  # noqa: N818 - see NotARepository
    """No commit has that name."""


class GitFailed(SearchError):  # noqa: N818 - see NotARepository
    """Git is missing, or failed to read the repository's objects."""


class CodeNotReadable(SearchError):  # noqa: N818 - see NotARepository
    """There is no code to search; the message is a clause that a report can quote."""
