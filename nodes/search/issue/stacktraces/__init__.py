"""Stack traces in prose, with one file per language family."""
