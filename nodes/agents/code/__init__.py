"""Support for the code search: candidates, lookups for a model, objections of a critic, agreement."""
