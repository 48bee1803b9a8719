"""The reading of an issue before the code: certain facts, its kind, the text in its pictures."""
