"""Reading of an indexed commit: lookups of names and words, quotes and sketches."""
