"""JavaScript traces: Node, browsers and bundlers."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """/srv/app/lib/cart.js:12
    return items.length
                 ^

TypeError: Cannot read properties of undefined (reading 'length')
    at Cart.total [as sum] (/srv/app/lib/cart.js:12:18)
    at async Promise.all (index 0)
    at new Order (file:///srv/app/order.mjs:3:9)
    at node:internal/main/run_main_module:23:47

Node.js v20.1.0""",
            "TypeError",
            "Cannot read properties of undefined (reading 'length')",
            [
                ("/srv/app/lib/cart.js", 12, "Cart.total"),
                ("/srv/app/order.mjs", 3, "Order"),
                ("node:internal/main/run_main_module", 23, None),
            ],
            id="node",
        ),
        pytest.param(
            """Uncaught (in promise) RangeError: too deep
    at walk (webpack:///./src/walk.ts?5a1c:7:11)
    at eval (webpack-internal:///./src/main.ts:2:1)
    at http://localhost:3000/static/js/bundle.js:100:5""",
            "RangeError",
            "too deep",
            [("src/walk.ts", 7, "walk"), ("src/main.ts", 2, "eval"), ("/static/js/bundle.js", 100, None)],
            id="chrome-with-webpack",
        ),
        pytest.param(
            """TypeError: e is null
render/<@https://shop.example/assets/view.js:40:13
async*start@https://shop.example/assets/main.js:5:3
@https://shop.example/assets/main.js:9:1""",
            "TypeError",
            "e is null",
            [("/assets/view.js", 40, "render"), ("/assets/main.js", 5, "start"), ("/assets/main.js", 9, None)],
            id="firefox",
        ),
        pytest.param(
            r"""Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'
    at load (C:\work\app\load.ts:8:2)
    at file:///C:/work/app/index.ts:1:1""",
            "Error",
            "Cannot find package 'x'",
            [("C:/work/app/load.ts", 8, "load"), ("C:/work/app/index.ts", 1, None)],
            id="windows",
        ),
        pytest.param(
            """\x1b[31mAssertionError: expected 1\x1b[39m
  to be 2
  but was 1
    \x1b[90mat Context.<anonymous> (test/one.spec.js:4:10)\x1b[39m""",
            "AssertionError",
            "expected 1",
            [("test/one.spec.js", 4, "Context.<anonymous>")],
            id="colours-and-multi-line-message",
        ),
        pytest.param(
            """TypeError: x
    at Proxy.render (src/components/The Card.vue:10:4)""",
            "TypeError",
            "x",
            [("src/components/The Card.vue", 10, "Proxy.render")],
            id="component-file",
        ),
        pytest.param(
            """Uncaught (in promise) SyntaxError: Invalid regular expression
    at new RegExp (<anonymous>)
    at createUrlRegex (index.js:587)
    at isURLMatched (index.js:545)""",
            "SyntaxError",
            "Invalid regular expression",
            [("index.js", 587, "createUrlRegex"), ("index.js", 545, "isURLMatched")],
            id="browser-console",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("javascript", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames
