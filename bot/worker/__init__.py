"""Claims a job, prepares the repository, runs the graph, publishes the outcome and settles the job."""

from bot.worker.work import Worker, open_worker

__all__ = ["Worker", "open_worker"]
