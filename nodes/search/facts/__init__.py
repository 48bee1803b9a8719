"""Facts: typed relations between words of an issue and lines or changes of the repository, each with its own check."""

from nodes.search.facts.types import Fact, Kind

__all__ = ["Fact", "Kind"]
