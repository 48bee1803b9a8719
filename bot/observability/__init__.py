"""Logs, metrics and traces of the server and all workers."""
