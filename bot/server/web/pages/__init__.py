"""The pages, one module with routes each."""
