"""The ranking of files and places: features, weights, reasons and confidence."""
