"""Login, sessions and accounts: they decide who sees which pages."""
