"""PHP traces: fatal errors, Symfony and Laravel."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            r"""PHP Fatal error:  Uncaught InvalidArgumentException: no such item: 3 in /srv/shop/Cart.php:41
Stack trace:
#0 /srv/shop/Order.php(12): Shop\Cart->find(3)
#1 /srv/index.php(5): Shop\Order::open()
#2 {main}
  thrown in /srv/shop/Cart.php on line 41""",
            "InvalidArgumentException",
            "no such item: 3",
            [("/srv/shop/Cart.php", 41, "find"), ("/srv/shop/Order.php", 12, "open"), ("/srv/index.php", 5, None)],
            id="uncaught",
        ),
        pytest.param(
            r"""An error was caused in line 41 of the file /srv/shop/Cart.php. Error message: Uncaught Error: """
            r"""Class "Shop\Item" not found in /srv/shop/Cart.php:41
Stack trace:
#0 /srv/shop/Order.php(12): Shop\Cart->find(3)""",
            "Error",
            r'Class "Shop\Item" not found',
            [("/srv/shop/Cart.php", 41, "find"), ("/srv/shop/Order.php", 12, None)],
            id="wordpress",
        ),
        pytest.param(
            r"""[php:error] PHP Fatal error:  Uncaught TypeError: no array in /srv/shop/Cart.php:41\nStack trace:\n"""
            r"""#0 /srv/shop/Order.php(12): cart_l>[Tue Jul 22""",
            "TypeError",
            "no array",
            [("/srv/shop/Cart.php", 41, None), ("/srv/shop/Order.php", 12, None)],
            id="cut-within-a-call",
        ),
        pytest.param(
            r"""Fatal error: Allowed memory size of 100 bytes exhausted in C:\www\a.php on line 9""",
            "Fatal error",
            "Allowed memory size of 100 bytes exhausted",
            [("C:/www/a.php", 9, None)],
            id="place-only",
        ),
        pytest.param(
            r"""[2024-05-01 10:11:12] local.ERROR: {"exception":"[object] (App\Gone(code: 0): gone at /app/Show.php:22)
[stacktrace]
#0 [internal function]: Show->page('x')
#1 /app/vendor/laravel/Router.php(100): call_user_func_array(Array, Array)
#2 {main}""",
            "App\\Gone",
            "gone",
            [
                ("/app/Show.php", 22, "page"),
                ("", None, "call_user_func_array"),
                ("/app/vendor/laravel/Router.php", 100, None),
            ],
            id="laravel-log",
        ),
        pytest.param(
            r"""RuntimeException: no template
  at App\View->render('home') in /app/src/View.php:17
  at App\Kernel->handle(object(Request)) (/app/src/Kernel.php:90)""",
            "RuntimeException",
            "no template",
            [("/app/src/View.php", 17, "render"), ("/app/src/Kernel.php", 90, "handle")],
            id="symfony",
        ),
        pytest.param(
            """#0 /srv/a.php(1): f()
#1 /srv/b.php(2): g()""",
            None,
            None,
            [("/srv/a.php", 1, "g"), ("/srv/b.php", 2, None)],
            id="frames-only",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("php", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


def test_the_class_is_the_module():
    text = "Uncaught Gone: x in /a.php:1\n#0 /b.php(2): Shop\\Cart->find()\n"
    assert find_traces(text)[0].frames[0].module == "Shop\\Cart"
