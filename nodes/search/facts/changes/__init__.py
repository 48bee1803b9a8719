"""Facts about commits: between two versions, or named by the report."""
