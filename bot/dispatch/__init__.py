"""Who runs a stored job."""
