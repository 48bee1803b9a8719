"""Run stored jobs."""
