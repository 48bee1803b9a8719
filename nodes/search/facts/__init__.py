"""Facts: checked relations between words of an issue and lines of the repository."""

from nodes.search.facts.types import Fact

__all__ = ["Fact"]
