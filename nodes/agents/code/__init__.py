"""Support for the code search: candidates, tools for a model, objections of a critic."""
