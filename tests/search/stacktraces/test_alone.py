"""Errors without frames count as traces only in formats unique to a language."""

from __future__ import annotations

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "language", "error", "message"),
    [
        pytest.param(
            "Traceback (most recent call last):\nKeyError: 'x'",
            "python",
            "KeyError",
            "'x'",
            id="python-heading-and-error",
        ),
        pytest.param(
            "> Traceback (most recent call last):\n>   ...\n> shop.CartError: empty",
            "python",
            "shop.CartError",
            "empty",
            id="python-frames-cut-out",
        ),
        pytest.param(
            "KeyError                Traceback (most recent call last)\n<snip>\nKeyError: 3",
            "python",
            "KeyError",
            "3",
            id="notebook",
        ),
        pytest.param(
            'Exception in thread "main" java.io.IOException: gone',
            "java",
            "java.io.IOException",
            "gone",
            id="java-thread",
        ),
        pytest.param(
            "Caused by: a.b.LostException\n\t... 3 more", "java", "a.b.LostException", None, id="java-link-of-a-chain"
        ),
        pytest.param(
            "Unhandled exception. System.IO.IOException: in use",
            "csharp",
            "System.IO.IOException",
            "in use",
            id="dotnet",
        ),
        pytest.param(
            "Uncaught (in promise) TypeError: x is undefined", "javascript", "TypeError", "x is undefined", id="browser"
        ),
        pytest.param(
            "panic: assignment to nil map [recovered]\n[signal SIGSEGV]\ngoroutine 1 [running]:\n...",
            "go",
            "panic",
            "assignment to nil map",
            id="go",
        ),
        pytest.param("thread 'main' panicked at 'no entry'", "rust", "panic", "no entry", id="rust"),
        pytest.param("PHP Fatal error:  Uncaught App\\Gone: bye", "php", "App\\Gone", "bye", id="php"),
        pytest.param("** (KeyError) key :a not found", "elixir", "KeyError", "key :a not found", id="elixir"),
        pytest.param(
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
            "c",
            "std::bad_alloc",
            "std::bad_alloc",
            id="c++",
        ),
        pytest.param(
            "Program received signal SIGFPE, Arithmetic exception.", "c", "SIGFPE", "Arithmetic exception", id="gdb"
        ),
        pytest.param("WARNING: ThreadSanitizer: data race (pid=3)", "c", "data race", "pid=3", id="sanitizer"),
    ],
)
def test_an_error_without_frames_is_a_trace(text: str, language: str, error: str, message: str | None) -> None:
    (trace,) = find_traces(f"It stops:\n{text}\nWhy?")
    assert (trace.language, trace.error, trace.message, trace.frames) == (language, error, message, ())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Traceback (most recent call last):", id="a-heading-and-nothing"),
        pytest.param("Traceback (most recent call last):\nI have no idea.\nKeyError: 'x'", id="prose-between"),
        pytest.param("```\nTraceback (most recent call last):\n```\nKeyError: 'x'", id="another-block"),
        pytest.param("KeyError: 'x'", id="an-error-without-its-heading"),
        pytest.param("panic: it is all broken!", id="a-panic-in-prose"),
        pytest.param("the app panicked at startup", id="a-panic-at-a-time"),
        pytest.param("Uncaught exceptions are lost. ** (see) below.", id="prose"),
        pytest.param("Caused by: a change in the parser", id="a-cause-in-prose"),
        pytest.param("Fatal error: it does not start", id="fatal"),
    ],
)
def test_possible_prose_is_not_a_trace(text: str) -> None:
    assert find_traces(text) == []


def test_the_span_covers_heading_and_error() -> None:
    text = "So:\nTraceback (most recent call last):\n  [...]\nKeyError: 'x'\nbye"
    (trace,) = find_traces(text)
    assert text[trace.start : trace.end] == text[4:-4]


def test_traces_with_frames_precede_errors_without_frames() -> None:
    lone = "Uncaught TypeError: a\n" * 30
    framed = "TypeError: b\n    at f (x.js:1:2)\n"
    assert any(trace.frames for trace in find_traces(lone + framed))
