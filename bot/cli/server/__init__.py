"""Commands that run, fill or query a server."""
