"""Traces of gdb, lldb, sanitizers and Valgrind."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """Program received signal SIGSEGV, Segmentation fault.
0x0000555 in parse (text=0x0) at src/parse.c:31
(gdb) bt
#0  0x0000555555555131 in parse (text=0x0, len=3) at src/parse.c:31
#1  run (argc=1) at src/main.c:12
#2  0x00007ffff7df0083 in __libc_start_main () from /lib/libc.so.6""",
            "SIGSEGV",
            "Segmentation fault",
            [("src/parse.c", 31, "parse"), ("src/main.c", 12, "run"), ("libc.so.6", None, "__libc_start_main")],
            id="gdb",
        ),
        pytest.param(
            """==123==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602 at pc 0x4f
READ of size 1 at 0x602 thread T0
    #0 0x4f1 in lex(char const*) /src/lex.cc:88:14
    #1 0x4f2 in ns::Parser<int>::run() /src/parse.cc:9
    #2 0x7f3 in __libc_start_main (/lib/libc.so.6+0x21)""",
            "heap-buffer-overflow",
            "on address 0x602 at pc 0x4f",
            [
                ("/src/lex.cc", 88, "lex"),
                ("/src/parse.cc", 9, "ns::Parser<int>::run"),
                ("libc.so.6", None, "__libc_start_main"),
            ],
            id="address-sanitizer",
        ),
        pytest.param(
            """* thread #1, queue = 'main', stop reason = EXC_BAD_ACCESS (code=1, address=0x0)
  * frame #0: 0x0000000100003f2c app`draw(shape=0x0) at draw.c:7:12
    frame #1: 0x0000000100003f50 app`main at main.c:3:1""",
            "EXC_BAD_ACCESS",
            "code=1, address=0x0",
            [("draw.c", 7, "draw"), ("main.c", 3, "main")],
            id="lldb",
        ),
        pytest.param(
            """==77== Invalid read of size 4
==77==    at 0x10915E: sum (sum.c:12)
==77==    by 0x109190: main (main.c:5)
==77==    by 0x4E5: start (in /usr/lib/libc.so)""",
            "Invalid read of size 4",
            None,
            [("sum.c", 12, "sum"), ("main.c", 5, "main"), ("libc.so", None, "start")],
            id="valgrind",
        ),
        pytest.param(
            """prog: src/list.cpp:45: void List::pop(): Assertion `size > 0' failed.""",
            "Assertion",
            "size > 0",
            [("src/list.cpp", 45, "void List::pop")],
            id="assertion",
        ),
        pytest.param(
            """src/hash.c:20:7: runtime error: signed integer overflow""",
            "runtime error",
            "signed integer overflow",
            [("src/hash.c", 20, None)],
            id="undefined-behaviour",
        ),
        pytest.param(
            """Program received signal SIGABRT, Aborted.
#0  raise () from /usr/lib/libc.so.6
#1  key_free ()
#2  Store::load (path=0x0)""",
            "SIGABRT",
            "Aborted",
            [("libc.so.6", None, "raise"), ("", None, "key_free"), ("", None, "Store::load")],
            id="without-symbols",
        ),
        pytest.param(
            """base.Error: [18:24:22] src/op/./pool-inl.h:267: Check failed: kernel > 0 (0 vs. 0)""",
            "Check failed",
            "kernel > 0 (0 vs. 0)",
            [("src/op/pool-inl.h", 267, None)],
            id="check-after-an-exception",
        ),
        pytest.param(
            """F0102 10:11:12.000131 4711 pool.cc:45] Check failed: size > 0""",
            "Check failed",
            "size > 0",
            [("pool.cc", 45, None)],
            id="check-in-a-log",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("c", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


def test_where_memory_came_from_is_only_an_aside():
    printed = (
        "==4182== Conditional jump or move depends on uninitialised value(s)\n"
        "==4182==    at 0x109262: tag_width (layout.c:19)\n"
        "==4182==    by 0x1091E4: main (main.c:15)\n"
        "==4182==  Uninitialised value was created by a heap allocation\n"
        "==4182==    at 0x48447A8: malloc (vg_replace_malloc.c:446)\n"
        "==4182==    by 0x109381: tag_new (tag.c:8)\n"
    )
    assert [(trace.frames[0].path, trace.is_aside) for trace in find_traces(printed)] == [
        ("layout.c", False),
        ("vg_replace_malloc.c", True),
    ]
