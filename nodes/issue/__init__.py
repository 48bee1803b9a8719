"""The reading of an issue before the code: certain facts and its kind."""
