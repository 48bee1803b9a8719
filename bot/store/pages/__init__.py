"""Query data for the web pages, limited to the repositories that the viewer may see."""

from __future__ import annotations

from bot.store.databases.database import Database
from bot.store.pages.attention import Attention, Queue
from bot.store.pages.repositories import Repositories
from bot.store.pages.runs import Runs


class Pages:
    """All queries of the web pages."""

    def __init__(self, database: Database) -> None:
        self.runs = Runs(database)
        self.repositories = Repositories(database)
        self.queue = Queue(database)
        self.attention = Attention(database)
