"""The languages of comments."""
