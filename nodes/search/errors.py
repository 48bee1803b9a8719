"""What can be wrong with a repository one is asked to search; each message names what to fix."""

from __future__ import annotations


class SearchError(Exception):
    """The repository or the revision cannot be searched as given."""


class NotARepository(SearchError):  # noqa: N818 - the name says the condition, and is what a caller catches
    """The path is not there or holds no git repository."""


class EmptyRepository(SearchError):  # noqa: N818 - see NotARepository
    """The repository has no commit yet."""


class UnknownRevision(SearchError):  # noqa: N818 - see NotARepository
    """No commit goes by that name."""


class GitFailed(SearchError):  # noqa: N818 - see NotARepository
    """Git is missing, or refused to read its own objects."""


class CodeNotReadable(SearchError):  # noqa: N818 - see NotARepository
    """There is no code to search: the message says why in half a sentence, for a report."""
