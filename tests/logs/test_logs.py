"""Logs have one line per record with ids and without secrets, and are readable on a terminal."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from bot.observability.logs import add_log_context, log_context, log_to_stderr

TOKEN = "ghp_" + "a1B2" * 9


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _loggers_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    log_to_stderr()
    return stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_log_line_of_any_library_names_its_job(stream: io.StringIO) -> None:
    with log_context(delivery="d1", job=7):
        add_log_context(run=3)
        logging.getLogger("bot.worker").info("took %s", "it", extra={"action": "job_taken"})
        structlog.get_logger("bot.worker").info("took it", action="job_taken")
        logging.getLogger("httpx").warning("slow")
    logging.getLogger("bot").info("outside")
    ours, structured, theirs, outside = lines(stream)
    for line in (ours, structured):
        assert line.pop("at").endswith("Z")
        assert line == {
            "level": "info",
            "logger": "bot.worker",
            "message": "took it",
            "action": "job_taken",
            "delivery": "d1",
            "job": 7,
            "run": 3,
        }
    assert (theirs["logger"], theirs["run"]) == ("httpx", 3)
    assert set(outside) == {"at", "level", "logger", "message"}


def test_only_warnings_of_other_libraries_are_logged(stream: io.StringIO) -> None:
    logging.getLogger("httpx").info("GET /")
    logging.getLogger("psycopg.pool").warning("error connecting")  # at every try, and the server logs the outage
    assert stream.getvalue() == ""


def test_secrets_are_masked_in_messages_fields_and_tracebacks(stream: io.StringIO) -> None:
    try:
        int(TOKEN)
    except ValueError:
        logging.getLogger("bot").exception("failed with %s", TOKEN, extra={"said": {"token": TOKEN}})
    (line,) = lines(stream)
    assert "Traceback" in line["traceback"]
    assert "ValueError" in line["traceback"]
    assert TOKEN not in stream.getvalue()


def test_a_message_of_many_lines_is_one_record(stream: io.StringIO) -> None:
    logging.getLogger("bot").info('first\n{"level": "forged"}\n')
    (line,) = lines(stream)
    assert line["level"] == "info"


@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_on_a_terminal_the_log_is_human_readable(
    monkeypatch: pytest.MonkeyPatch, no_colour: str, coloured: bool
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("NO_COLOR", no_colour)
    log_to_stderr()
    with log_context(issue="github.com/1#2"):
        logging.getLogger("bot").info("done \x1b]0;title\x07 %s", TOKEN)
    text = stream.getvalue()
    assert ("\x1b[" in text) == coloured
    assert "github.com/1#2" in text
    assert "\x1b]0" not in text
    assert TOKEN not in text
