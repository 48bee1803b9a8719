"""What was seen already, in a file of its own."""

import json
from pathlib import Path


class SeenStore:
    """Remembers the ids of entries between two runs."""

    def __init__(self, path):
        self.path = Path(path)
        self.seen = set(json.loads(self.path.read_text())) if self.path.exists() else set()

    def new_entries(self, entries):
        """Entries whose id was not seen before."""
        return [entry for entry in entries if entry.id not in self.seen]

    def remember(self, entries):
        """Note the ids and write them to the file."""
        self.seen.update(entry.id for entry in entries)
        self.path.write_text(json.dumps(sorted(self.seen)))
