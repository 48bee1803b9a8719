"""Facts about names of code in a report."""
