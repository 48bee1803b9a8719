"""Rust panics and backtraces."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """thread 'main' panicked at src/cart.rs:12:9:
index out of bounds: the len is 3 but the index is 3
note: run with `RUST_BACKTRACE=1`""",
            "panic",
            "index out of bounds: the len is 3 but the index is 3",
            [("src/cart.rs", 12, None)],
            id="new-format",
        ),
        pytest.param(
            "thread 'main' panicked at src/cart.rs:12:9:         no item",
            "panic",
            "no item",
            [("src/cart.rs", 12, None)],
            id="joined-lines",
        ),
        pytest.param(
            """thread 'main' panicked at 'called `Option::unwrap()` on a `None` value', src/main.rs:4:5
note: run with `RUST_BACKTRACE=1`""",
            "panic",
            "called `Option::unwrap()` on a `None` value",
            [("src/main.rs", 4, None)],
            id="old-format",
        ),
        pytest.param(
            "thread 'main' panicked at 'internal error: it is': src/main.rs:4",
            "panic",
            "internal error: it is",
            [("src/main.rs", 4, None)],
            id="old-format-with-a-colon",
        ),
        pytest.param(
            r"""thread 'tokio-worker' (12) panicked at crates/io/src/lib.rs:7:3:
no file
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:645:5
   1: core::panicking::panic_fmt
             at /rustc/abc/library/core/src/panicking.rs:72:14
   2: io::open::h0123456789abcdef
             at ./crates/io/src/lib.rs:7:3
   3: io::main
             at .\crates\io\src\main.rs:2:1""",
            "panic",
            "no file",
            [("crates/io/src/lib.rs", 7, "io::open"), ("crates/io/src/main.rs", 2, "io::main")],
            id="backtrace",
        ),
        pytest.param(
            r"""error: internal compiler error
thread 'rustc' panicked at compiler\rustc_middle\src\ty.rs:100:13:
no entry found
```""",
            "panic",
            "no entry found",
            [("compiler/rustc_middle/src/ty.rs", 100, None)],
            id="compiler",
        ),
        pytest.param(
            """   0:     0x55d0c0de - app::deep::call
                               at /app/src/deep.rs:9
   1:     0x55d0c0df - std::rt::lang_start""",
            None,
            None,
            [("/app/src/deep.rs", 9, "app::deep::call"), ("", None, "std::rt::lang_start")],
            id="addresses",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("rust", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames
