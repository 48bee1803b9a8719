"""Registering the App: what GitHub is asked for, and where what it answers is kept."""
