"""Reading of an indexed commit: lookups of names, tools of a reader, quotes and sketches."""
