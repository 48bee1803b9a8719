"""Earlier issues: read from GitHub page by page, stored as hashes of their words, and reread before one is named."""
