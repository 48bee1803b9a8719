"""The index of a commit."""
