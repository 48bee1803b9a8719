"""Limits on the resources that an unauthenticated caller may use on the server."""
