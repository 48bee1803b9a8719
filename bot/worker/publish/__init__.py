"""Writes the outcome of a run to GitHub as labels, reactions and one sticky comment."""
