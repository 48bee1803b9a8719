"""What pages read: across repositories, but never more than the keys that whoever looks may see."""

from __future__ import annotations

from bot.store.database import Database
from bot.store.pages.queue import Queue
from bot.store.pages.repositories import Repositories
from bot.store.pages.runs import Runs


class Pages:
    """Everything that pages read."""

    def __init__(self, database: Database) -> None:
        self.runs = Runs(database)
        self.repositories = Repositories(database)
        self.queue = Queue(database)
