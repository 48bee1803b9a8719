"""The kind of an issue."""
