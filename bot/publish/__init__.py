"""A waiting run or a report becomes labels, reactions and one sticky comment."""

from bot.publish.publisher import Publication, Published, Publisher

__all__ = ["Publication", "Published", "Publisher"]
