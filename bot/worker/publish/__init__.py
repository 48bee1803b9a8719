"""Writes the outcome of a run to GitHub as labels, reactions and one sticky comment."""

from bot.worker.publish.publisher import Publication, Published, Publisher

__all__ = ["Publication", "Published", "Publisher"]
