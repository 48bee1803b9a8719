"""Web pages for people. Pages about a repository require a login."""
