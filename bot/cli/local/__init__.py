"""Commands that work on a local checkout, without a server."""
