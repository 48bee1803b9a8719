"""Support for the writer: what the program adds to a draft, and what a report may state."""
