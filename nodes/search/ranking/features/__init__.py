"""Features of each file and each chunk for one query: each is about 0 to 1, and 0 if absent."""
