""".NET traces."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            r"""Unhandled exception. System.NullReferenceException: Object reference not set.
   at Acme.Shop.Cart.Total(List`1 items) in C:\src\Shop\Cart.cs:line 42
   at Acme.Shop.Program.<Main>$(String[] args) in /src/Program.cs:line 3""",
            "System.NullReferenceException",
            "Object reference not set.",
            [("C:/src/Shop/Cart.cs", 42, "Total"), ("/src/Program.cs", 3, "<Main>$")],
            id="unhandled",
        ),
        pytest.param(
            r"""System.InvalidOperationException: Sequence contains no elements
   at System.Linq.ThrowHelper.ThrowNoElementsException()
   at System.Linq.Enumerable.First[TSource](IEnumerable`1 source)
--- End of stack trace from previous location ---
   at Acme.Web.Page.OnGetAsync() in D:\a\Page.cshtml.cs:line 9""",
            "System.InvalidOperationException",
            "Sequence contains no elements",
            [("", None, "ThrowNoElementsException"), ("", None, "First"), ("D:/a/Page.cshtml.cs", 9, "OnGetAsync")],
            id="generic-async",
        ),
        pytest.param(
            """System.AggregateException: One or more errors occurred. (x) ---> System.IO.IOException: disk full
   at Acme.Disk.Write(Byte[] data) in /src/Disk.cs:line 8
   --- End of inner exception stack trace ---
   at Acme.Main.Run() in /src/Main.cs:line 2""",
            "System.IO.IOException",
            "disk full",
            [("/src/Disk.cs", 8, "Write")],
            id="inner",
        ),
        pytest.param(
            """Acme.ConfigException: bad
   at Acme.Config..ctor(String path) in /src/Config.cs:line 5""",
            "Acme.ConfigException",
            "bad",
            [("/src/Config.cs", 5, ".ctor")],
            id="constructor",
        ),
        pytest.param(
            """NullReferenceException: Object reference not set
  at Game.Player.Update () [0x00012] in /Assets/Player.cs:33
  at Game.Loop.Tick (System.Single delta) [0x00000] in <6a2c>:0 """,
            "NullReferenceException",
            "Object reference not set",
            [("/Assets/Player.cs", 33, "Update"), ("", None, "Tick")],
            id="mono",
        ),
        pytest.param(
            "Exception Info: System.NullReferenceException\nStack:\n   at Acme.Tools.Reader.Open()\n"
            "   at Acme.App.Program.Main(System.String[])\n",
            "System.NullReferenceException",
            None,
            [("", None, "Open"), ("", None, "Main")],
            id="event-log",
        ),
        pytest.param(
            "Ausnahmeinformationen: System.IO.IOException\n   bei Acme.Tools.Reader.Open()\n",
            "System.IO.IOException",
            None,
            [("", None, "Open")],
            id="event-log-in-another-language",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("csharp", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


def test_the_class_is_the_module():
    trace = find_traces("   at Acme.Web.Page.Get() in /src/Page.cs:line 9")[0]
    assert trace.frames[0].module == "Acme.Web.Page"
