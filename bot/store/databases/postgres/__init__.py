"""Postgres: transactions, schema, checkpoints, wake-ups and heartbeats of workers."""
