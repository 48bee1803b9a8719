"""Runs git with limits, and reads objects at a commit."""

from nodes.search.git.repository import Repository

__all__ = ["Repository"]
