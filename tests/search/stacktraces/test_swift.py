"""Swift traces."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """MyApp/Cart.swift:14: Fatal error: Index out of range""",
            "Fatal error",
            "Index out of range",
            [("MyApp/Cart.swift", 14, None)],
            id="fatal",
        ),
        pytest.param(
            """Fatal error: Unexpectedly found nil: file /src/App/View.swift, line 9""",
            "Fatal error",
            "Unexpectedly found nil",
            [("/src/App/View.swift", 9, None)],
            id="old-fatal",
        ),
        pytest.param(
            """App/Cart.swift:3: Fatal error: empty

*** Program crashed: Illegal instruction at 0x00007f ***

Thread 0 crashed:

0 [ra] 0x00005581 Cart.total(of:) + 42 in App at /src/App/Cart.swift:3:9
1 [ra] 0x00005590 closure #1 in main() in App at /src/App/main.swift:8:1""",
            "Fatal error",
            "empty",
            [("/src/App/Cart.swift", 3, "Cart.total"), ("/src/App/main.swift", 8, "closure #1 in main")],
            id="backtrace",
        ),
        pytest.param(
            """Exception Type:  EXC_BREAKPOINT (SIGTRAP)
Thread 0 Crashed:
0   libswiftCore.dylib            	0x000000018f2 _assertionFailure(_:_:) + 236
1   Shop                          	0x00000001041 Cart.pay(with:) + 88 (Cart.swift:21)""",
            "EXC_BREAKPOINT (SIGTRAP)",
            None,
            [("", None, "_assertionFailure"), ("Cart.swift", 21, "Cart.pay")],
            id="crash-report",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("swift", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames
