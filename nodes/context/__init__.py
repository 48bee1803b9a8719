"""The interfaces of everything that a run may call, and the brain with what it receives and returns."""
