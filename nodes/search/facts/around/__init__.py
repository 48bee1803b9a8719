"""Facts about the surroundings of another fact: its condition and its callers."""
