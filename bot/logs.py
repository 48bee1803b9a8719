"""One JSON object a line on standard error, without secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from nodes.trust.secrets import mask

_FIELDS = ("action", "delivery", "event", "job", "issue", "run", "jobs", "seconds")
"""What a record may carry besides its message."""


class JsonFormatter(logging.Formatter):
    """Stable keys; whatever looks like a secret is masked, in tracebacks too."""

    def format(self, record: logging.LogRecord) -> str:
        """Render one record."""
        said: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": mask(record.getMessage()),
        }
        said.update({name: getattr(record, name) for name in _FIELDS if hasattr(record, name)})
        if record.exc_info:
            said["traceback"] = mask(self.formatException(record.exc_info))
        return json.dumps(said, ensure_ascii=False, default=str)


def log_to_stderr(level: int = logging.INFO) -> None:
    """Log everything of ours, and only the warnings of others."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in ("bot", "nodes"):
        logging.getLogger(name).setLevel(level)
