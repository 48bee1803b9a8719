"""Paths of a commit: matching of suffixes and patterns, and the role of a file."""
