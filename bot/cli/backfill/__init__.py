"""The plan of a backfill: which issues, what it costs, and its page."""
