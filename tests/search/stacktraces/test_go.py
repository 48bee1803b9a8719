"""Go traces: panics and goroutine dumps."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """panic: runtime error: index out of range [3] with length 3 [recovered]

goroutine 1 [running]:
main.pick(...)
	/home/me/app/pick.go:12
main.main()
	/home/me/app/main.go:7 +0x1d
exit status 2""",
            "panic",
            "runtime error: index out of range [3] with length 3",
            [("/home/me/app/pick.go", 12, "pick"), ("/home/me/app/main.go", 7, "main")],
            id="panic",
        ),
        pytest.param(
            """panic: nil map
goroutine 34 [running]:
github.com/acme/shop/cart.(*Cart).Add(0xc0000b2000, {0x5, 0x6})
	C:/src/shop/cart/cart.go:88 +0x9c
created by github.com/acme/shop/cart.Start in goroutine 1
	C:/src/shop/cart/start.go:10 +0x55""",
            "panic",
            "nil map",
            [("C:/src/shop/cart/cart.go", 88, "(*Cart).Add"), ("C:/src/shop/cart/start.go", 10, "Start")],
            id="method-and-creator",
        ),
        pytest.param(
            """fatal error: unexpected signal during runtime execution
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x0]

goroutine 5 [running]:
runtime.throw({0x1, 0x2})
	/usr/local/go/src/runtime/panic.go:992 +0x71
app.run(func(int) int)
	/app/run.go:3 +0x1""",
            "fatal error",
            "unexpected signal during runtime execution",
            [("/app/run.go", 3, "run")],
            id="signal",
        ),
        pytest.param(
            """2024/05/01 10:00:00 http: panic serving 1.2.3.4:5: boom
goroutine 9 [running]:
net/http.(*conn).serve.func1()
	/go/src/net/http/server.go:1850 +0xbf
panic({0x7, 0x8})
	/go/src/runtime/panic.go:890 +0x262
example.com/web.handle({0x1, 0x2})
	/app/web/handle.go:31 +0x44""",
            "panic",
            "boom",
            [("/app/web/handle.go", 31, "handle")],
            id="machinery-is-skipped",
        ),
        pytest.param(
            """Caught panic:

runtime error: slice bounds out of range [:-1]

Restoring terminal...

goroutine 1 [running]:
app/tui.(*View).Draw(0x1)
	/app/tui/view.go:31 +0x44""",
            "runtime error",
            "slice bounds out of range [:-1]",
            [("/app/tui/view.go", 31, "(*View).Draw")],
            id="caught-by-a-library",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("go", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


def test_each_goroutine_is_a_trace():
    dump = "goroutine {} [chan receive]:\nmain.wait()\n\t/a/wait.go:{} +0x1\n\n"
    traces = find_traces("panic: x\n\n" + dump.format(1, 1) + dump.format(2, 2))
    assert [(trace.error, trace.frames[0].line) for trace in traces] == [("panic", 1), (None, 2)]
    assert traces[0].frames[0].module == "main"
