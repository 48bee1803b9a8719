"""Queries for the web pages, limited to the repositories that the viewer may see."""
