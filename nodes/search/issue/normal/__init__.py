"""Normalises reports before anything reads them, with a map back to the reporter's characters."""
