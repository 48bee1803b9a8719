"""The text of an issue: its query, what it names, its stack traces, and issues about the same failure."""
