"""Properties of traces of every language."""

import pytest

from nodes.search.issue.normal.report import normalise
from nodes.search.issue.query import blank
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.issue.stacktraces.runs import MAX_FRAMES, MAX_TRACES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("It is slow at night (since 3.2) and at 12:30:15 it stops.", id="prose"),
        pytest.param("Write to me@example.com:12:13 or see #12 and #0 in the list.", id="addresses-and-numbers"),
        pytest.param("1. at home\n2. at work\n", id="lists"),
        pytest.param("```py\ndef f():\n    raise ValueError('x')\n```", id="code"),
        pytest.param("The frame was at com.acme.Parser, I think.", id="a-class-in-prose"),
    ],
)
def test_prose_has_no_trace(text):
    assert find_traces(text) == []


def test_traces_come_in_order_of_appearance():
    java, script = "\tat a.B.c(B.java:1)\n", "    at f (x.js:1:2)\n"
    assert [trace.language for trace in find_traces(script + "then\n" + java)] == ["javascript", "java"]


def test_traces_and_frames_are_capped():
    frames = "\tat a.B.c(B.java:1)\n" * (MAX_FRAMES + 50)
    traces = find_traces("".join(f"a.XError: {number}\n{frames}" for number in range(MAX_TRACES + 5)))
    assert len(traces) == MAX_TRACES
    assert {len(trace.frames) for trace in traces} == {MAX_FRAMES}


WEB = """web-1  | Traceback (most recent call last):
db-1   | 2026-01-07 09:00:01.123 UTC [55] LOG:  checkpoint starting: time
web-1  |   File "/app/shop/web.py", line 9, in post_order
web-1  |     return place(order)
redis-1  | 1:M 07 Jan 2026 09:00:03.000 * Background saving started
web-1  |   File "/app/shop/stock.py", line 8, in reserve
web-1  |     held = STOCK[sku]
web-1  | KeyError: 'A-113'
"""
TWO = """api-1     | TypeError: x is not a function
worker-1  | Traceback (most recent call last):
api-1     |     at fold (/app/src/fold.js:13:5)
worker-1  |   File "/app/jobs/run.py", line 4, in run
worker-1  |     go()
api-1     |     at main (/app/src/main.js:3:1)
worker-1  | ValueError: no job
"""
PODS = """shop-7d9f-abcde web panic: runtime error: index out of range [3] with length 0
shop-7d9f-abcde sidecar {"level":"info","msg":"ping"}
shop-7d9f-abcde web goroutine 1 [running]:
shop-7d9f-abcde web main.row(...)
shop-7d9f-abcde sidecar {"level":"info","msg":"ping"}
shop-7d9f-abcde web 	/app/main.go:8
shop-7d9f-abcde web main.main()
shop-7d9f-abcde web 	/app/main.go:13 +0x1c
"""
FOREMAN = """09:00:01 web.1    | NoMethodError (undefined method `price' for nil:NilClass):
09:00:01 worker.1 | polling queue
09:00:01 web.1    | app/models/cart.rb:7:in `total'
09:00:01 worker.1 | polling queue
09:00:01 web.1    | app/controllers/carts.rb:12:in `show'
"""
COMMAS = (
    "TypeError: Cannot read property 'x' of undefined,at fold (/app/src/fold.js:13:5),at main (/app/src/main.js:3:1)\n"
)
LIST = '{"stack":["TypeError: no row","at fold (/app/src/fold.js:13:5)","at main (/app/src/main.js:3:1)"]}\n'
TABLE = "web-1 | on | fast\ndb-1 | off | slow\nweb-1 | on | slow\n"


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        pytest.param(WEB, [("KeyError", [8, 9])], id="compose"),
        pytest.param(TWO, [("TypeError", [13, 3]), ("ValueError", [4])], id="two-programs"),
        pytest.param(PODS, [("panic", [8, 13])], id="pods"),
        pytest.param(FOREMAN, [("NoMethodError", [7, 12])], id="foreman"),
        pytest.param(COMMAS, [("TypeError", [13, 3])], id="commas"),
        pytest.param(LIST, [("TypeError", [13, 3])], id="a-list-in-json"),
        pytest.param(TABLE, [], id="a-table"),
    ],
)
def test_lines_of_merged_logs_and_joined_frames_are_one_trace(printed: str, found: list[tuple[str, list[int]]]):
    text = f"It stops:\n\n```\n{printed}```\nSince the update.\n"
    traces = find_traces(text)
    assert [(trace.error, [frame.line for frame in trace.frames]) for trace in traces] == found
    # The text around the traces stays, also where two of them overlap.
    blanked = blank(text, traces)
    assert blanked.startswith("It stops:")
    assert blanked.endswith("Since the update.\n")


def test_words_of_a_merged_log_are_found_as_they_were_written():
    report = normalise(f"```\n{TWO}```\n")
    assert report.text[report.position(4 + TWO.index("jobs")) :].startswith("jobs/run.py")
