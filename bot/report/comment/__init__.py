"""The sticky comment on an issue: its headline, its sections and its thread."""
