"""The history of some places: which changes may have broken them, and who knows them."""
