"""Sources outside the repository."""
