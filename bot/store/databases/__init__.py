"""SQLite and Postgres behind one interface: transactions, migrations and checkpoints."""
