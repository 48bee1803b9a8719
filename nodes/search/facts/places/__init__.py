"""Facts about places that the report names itself: links, paths and pasted code."""
