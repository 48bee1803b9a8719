"""Traces of Java, Kotlin and Scala."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """Exception in thread "main" java.lang.IllegalStateException: not open: 3
	at com.acme.io.Reader.read(Reader.java:55)
	at com.acme.Main$Inner.lambda$run$0(Main.java:9)
	at java.base/java.lang.Thread.run(Thread.java:829)
	at jdk.internal.Ref.invoke0(Native Method)
	... 12 more""",
            "java.lang.IllegalStateException",
            "not open: 3",
            [
                ("Reader.java", 55, "read"),
                ("Main.java", 9, "lambda$run$0"),
                ("Thread.java", 829, "run"),
                ("", None, "invoke0"),
            ],
            id="java",
        ),
        pytest.param(
            """kotlin.UninitializedPropertyAccessException: lateinit property x
    at com.acme.App.onCreate(App.kt:21) ~[app.jar:1.0]
    at app//com.acme.AppKt.main(App.kt)""",
            "kotlin.UninitializedPropertyAccessException",
            "lateinit property x",
            [("App.kt", 21, "onCreate"), ("App.kt", None, "main")],
            id="kotlin-with-jar",
        ),
        pytest.param(
            """[error] Exception in thread "main" scala.MatchError: List()
	at shop.Cart$.total(Cart.scala:14)
	at shop.Cart.$anonfun$new$1(Cart.scala)""",
            "scala.MatchError",
            "List()",
            [("Cart.scala", 14, "total"), ("Cart.scala", None, "$anonfun$new$1")],
            id="scala",
        ),
        pytest.param(
            """05-01 10:00:00.123 E/AndroidRuntime( 1234): java.lang.NullPointerException: x
05-01 10:00:00.123 E/AndroidRuntime( 1234): 	at com.acme.Main.go(Main.java:3)""",
            "java.lang.NullPointerException",
            "x",
            [("Main.java", 3, "go")],
            id="android-log",
        ),
        pytest.param(
            """> 2024-05-01T10:11:12.345Z ERROR 1 --- [main] java.io.IOException: gone
> 	at a.B.<init>(B.java:1)""",
            "java.io.IOException",
            "gone",
            [("B.java", 1, "<init>")],
            id="quoted-with-log-prefix",
        ),
        pytest.param(
            """Fatal Exception: java.lang.NullPointerException: no view
       at com.acme.ui.Home.open(Home.kt:57)""",
            "java.lang.NullPointerException",
            "no view",
            [("Home.kt", 57, "open")],
            id="crashlytics",
        ),
        pytest.param(
            """Fatal Exception: java.lang.IllegalStateException
View not attached
com.acme.ui.Home.open (Home.kt:57)
com.acme.ui.Home$1.run (Home.kt:61)""",
            "java.lang.IllegalStateException",
            None,
            [("Home.kt", 57, "open"), ("Home.kt", 61, "run")],
            id="crashlytics-without-at",
        ),
        pytest.param(
            """Exception java.lang.RuntimeException:
  at com.acme.Feed.load (Feed.java:12)
  at android.app.ActivityThread.main (ActivityThread.java:8000)""",
            "java.lang.RuntimeException",
            None,
            [("Feed.java", 12, "load"), ("ActivityThread.java", 8000, "main")],
            id="console-of-google",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("java", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


CAUSED = """java.lang.RuntimeException: outer
\tat a.One.x(One.java:1)
Caused by: a.b.Inner
\tat a.Two.y(Two.java:2)
\t... 3 more
Suppressed: java.io.IOException: closing
\tat a.Three.z(Three.java:3)
"""


def test_each_cause_is_a_trace():
    assert [(trace.error, trace.frames[0].module) for trace in find_traces(CAUSED)] == [
        ("java.lang.RuntimeException", "a.One"),
        ("a.b.Inner", "a.Two"),
        ("java.io.IOException", "a.Three"),
    ]


def test_module_prefixes_are_dropped():
    assert find_traces("\tat java.base@17/java.util.List.of(List.java:1)")[0].frames[0].module == "java.util.List"


def test_a_frame_within_a_sentence_is_no_trace():
    assert find_traces("It happens in com.acme.ui.Home.open (Home.kt:57) only, not in others (yet)") == []
