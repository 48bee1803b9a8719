"""Python traces: the interpreter, IPython and pytest."""

import pytest

from nodes.search.issue.normal.report import normalise
from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """It fails:
```
Traceback (most recent call last):
  File "/srv/shop/cart.py", line 41, in checkout
    total = price(items)
            ^^^^^^^^^^^^
  File "/srv/shop/price.py", line 7, in price
    return sum(item["cost"] for item in items)
  [Previous line repeated 3 more times]
KeyError: 'cost'
```
thanks""",
            "KeyError",
            "'cost'",
            [("/srv/shop/price.py", 7, "price"), ("/srv/shop/cart.py", 41, "checkout")],
            id="plain",
        ),
        pytest.param(
            r"""> 2024-05-01 10:11:12,345 ERROR [worker-1] Traceback (most recent call last):
>   File "C:\app\run.py", line 3, in <module>
>     main()
> shop.errors.CartError: empty cart: 12""",
            "shop.errors.CartError",
            "empty cart: 12",
            [("C:/app/run.py", 3, "<module>")],
            id="windows-in-a-quote-with-log-prefix",
        ),
        pytest.param(
            """Traceback (most recent call last):
File "a.py", line 1, in f
g()
File "b.py", line 2, in g
raise Stop
Stop: now""",
            "Stop",
            "now",
            [("b.py", 2, "g"), ("a.py", 1, "f")],
            id="no-indentation",
        ),
        pytest.param(
            """  + Exception Group Traceback (most recent call last):
  |   File "main.py", line 9, in <module>
  |     run()
  | ExceptionGroup: two failed (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "task.py", line 4, in one
    |     raise ValueError("bad")
    | ValueError: bad""",
            "ExceptionGroup",
            "two failed (2 sub-exceptions)",
            [("main.py", 9, "<module>")],
            id="exception-group",
        ),
        pytest.param(
            """---------------------------------------------------------------------------
TypeError                                 Traceback (most recent call last)
<ipython-input-4-0a1b> in <module>
      1 frame = load()
----> 2 frame.plot()

~/lib/frames/plot.py in plot(self, kind)
     11     def plot(self, kind=None):
---> 12         return draw(self, kind)
     13         # drawn

TypeError: kind is None""",
            "TypeError",
            "kind is None",
            [("~/lib/frames/plot.py", 12, "plot"), ("", 2, "<module>")],
            id="old-notebook",
        ),
        pytest.param(
            """ValueError                                Traceback (most recent call last)
Cell In[3], line 1
----> 1 fit(x)

File ~/lib/model/fit.py:88, in fit(x, y)
     87 if y is None:
---> 88     raise ValueError("no y")

ValueError: no y""",
            "ValueError",
            "no y",
            [("~/lib/model/fit.py", 88, "fit"), ("", 1, None)],
            id="new-notebook",
        ),
        pytest.param(
            """    def test_sum():
>       assert add(1, 2) == 4
E       assert 3 == 4

tests/test_add.py:12: AssertionError""",
            "AssertionError",
            None,
            [("tests/test_add.py", 12, None)],
            id="pytest",
        ),
        pytest.param(
            """tests/test_io.py:5: in test_read
    read("x")
src/io.py:31: in read
    raise OSError("gone")
E   OSError: gone""",
            "OSError",
            "gone",
            [("src/io.py", 31, "read"), ("tests/test_io.py", 5, "test_read")],
            id="pytest-short",
        ),
        pytest.param(
            """  File "setup.py", line 20
    print "x"
          ^
SyntaxError: Missing parentheses""",
            "SyntaxError",
            "Missing parentheses",
            [("setup.py", 20, None)],
            id="syntax-error",
        ),
        pytest.param(
            """Traceback (most recent call last):
 File "/srv/site/views.py", line 9, in show
\treturn max([])
Exception Type: ValueError at /cart
Exception Value: max() arg is an empty sequence""",
            "ValueError",
            "max() arg is an empty sequence",
            [("/srv/site/views.py", 9, "show")],
            id="django-debug-page",
        ),
        pytest.param(
            """IndexError                                Traceback (most recent call last)

[<ipython-input-18-d4>](https://localhost:8080/#) in <module>
     19 x = []
---> 20 first(x)

[/usr/lib/shop/first.py](https://localhost:8080/#) in first(x)
-> 7     return x[0]

IndexError: list index out of range""",
            "IndexError",
            "list index out of range",
            [("/usr/lib/shop/first.py", 7, "first"), ("", 20, "<module>")],
            id="linked-notebook",
        ),
        pytest.param(
            """  File "net.py", line 3, in read
    recv()
socket.error: [Errno 104] Connection reset""",
            "socket.error",
            "[Errno 104] Connection reset",
            [("net.py", 3, "read")],
            id="error-in-lower-case",
        ),
        pytest.param(
            """Traceback (most recent call last):
File “/srv/shop/cart.py”, line 12, in total
return sum(prices)
TypeError: unsupported operand type(s) for +: ‘int’ and ‘str’""",
            "TypeError",
            "unsupported operand type(s) for +: ‘int’ and ‘str’",
            [("/srv/shop/cart.py", 12, "total")],
            id="typographic-quotes",
        ),
        pytest.param(
            """|   File "/srv/shop/cart.py", line 3, in total           |
|     return first(prices)                               |
|   File "/srv/shop/first.py", line 7, in first          |
|     return prices[0]                                   |
| IndexError: list index out of range                    |""",
            "IndexError",
            "list index out of range",
            [("/srv/shop/first.py", 7, "first"), ("/srv/shop/cart.py", 3, "total")],
            id="in-a-frame-of-bars",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("python", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


CHAIN = """Traceback (most recent call last):
  File "a.py", line 1, in one
    two()
KeyError: 'k'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "b.py", line 2, in three
    four()
RuntimeError: no k
"""


def test_each_link_of_a_chain_is_a_trace():
    assert [trace.error for trace in find_traces(CHAIN)] == ["KeyError", "RuntimeError"]


def test_offsets_cover_the_trace():
    trace = find_traces("before\n" + CHAIN)[0]
    covered = ("before\n" + CHAIN)[trace.start : trace.end]
    assert covered.startswith("Traceback")
    assert covered.endswith("KeyError: 'k'")


def test_a_frame_whose_function_a_page_dropped_is_not_joined_with_its_source():
    frames = 'File "/srv/a.py", line 2, in \nfrom b import C\nFile "/srv/b.py", line 9, in \nimport c\n'
    text = f"Traceback (most recent call last):\n{frames}ModuleNotFoundError: No module named 'c'"
    (trace,) = find_traces(normalise(text).text)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == [
        ("/srv/b.py", 9, None),
        ("/srv/a.py", 2, None),
    ]
