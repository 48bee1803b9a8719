"""Earlier issues: learnt from GitHub page by page, kept as hashes of their words, read again before one is named."""
