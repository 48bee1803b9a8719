"""Takes a job, readies the repository, runs the graph, publishes, settles the job."""

from bot.worker.work import Worker, open_worker

__all__ = ["Worker", "open_worker"]
