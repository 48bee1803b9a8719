"""Log to standard error: JSON lines, or readable lines on a terminal, with secrets masked in both.

`about` binds the subject of the records (delivery, job, issue, run) once; every record within it carries these fields,
including records of other libraries.
"""

import contextlib
import logging
import os
import sys
from collections.abc import Iterator

import structlog
from structlog.typing import EventDict, Processor

from nodes.trust.secrets import mask

_FIRST = ("at", "level", "logger", "message")
_CONTROLS = {code: None for code in (*range(32), *range(127, 160)) if code not in (9, 10)}
"""Control characters to remove on a terminal: text from an issue could move the cursor or change colours."""


@contextlib.contextmanager
def log_context(**ids: object) -> Iterator[None]:
    """Bind ids to every record logged inside the context."""
    before = structlog.contextvars.get_contextvars()
    structlog.contextvars.bind_contextvars(**ids)
    try:
        yield
    finally:
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(**before)


def add_log_context(**ids: object) -> None:
    """Bind more ids until the enclosing ``about`` ends."""
    structlog.contextvars.bind_contextvars(**ids)


def log_to_stderr(*, readable: bool = False) -> None:
    """Log our records from level INFO on and other libraries' warnings; readable lines on request or on a terminal."""
    handler = logging.StreamHandler(sys.stderr)
    terminal = sys.stderr.isatty()
    handler.setFormatter(_formatter(readable=readable or terminal, colours=terminal and not os.environ.get("NO_COLOR")))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    # The pool repeats its warning at every try; `Outage` logs an outage of the database once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    for name in ("bot", "nodes"):
        logging.getLogger(name).setLevel(logging.INFO)
    structlog.configure(
        processors=[*_gathered(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def _gathered() -> list[Processor]:
    """Return the processors that add context, level, logger and time to a record of any library."""
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]


def _formatter(*, readable: bool, colours: bool) -> logging.Formatter:
    shown: list[Processor] = (
        [_without_controls, structlog.dev.ConsoleRenderer(colors=colours, event_key="message", timestamp_key="at")]
        if readable
        else [_ordered, structlog.processors.JSONRenderer(ensure_ascii=False, default=str)]
    )
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_gathered(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("message"),
            _masked,
            *shown,
        ],
    )


def _masked(_logger: object, _name: str, record: EventDict) -> EventDict:
    """Mask everything that looks like a secret, in tracebacks too."""
    if "exception" in record:
        record["traceback"] = record.pop("exception")
    record.pop("color_message", None)  # uvicorn's, with escape codes
    return {
        name: value if value is None or isinstance(value, bool | int | float) else mask(str(value))
        for name, value in record.items()
    }


def _ordered(_logger: object, _name: str, record: EventDict) -> EventDict:
    first = {name: record[name] for name in _FIRST if name in record}
    return {**first, **record}


def _without_controls(_logger: object, _name: str, record: EventDict) -> EventDict:
    return {name: value.translate(_CONTROLS) if isinstance(value, str) else value for name, value in record.items()}
