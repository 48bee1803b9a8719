"""Read feeds and print what is new."""
