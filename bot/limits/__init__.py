"""Limits on what runs spend, and on writes to GitHub."""
