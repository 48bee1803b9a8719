"""The names, messages, versions and code that an issue mentions in prose."""
