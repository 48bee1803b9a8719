"""Facts about what a program printed: its messages and its stack traces."""
