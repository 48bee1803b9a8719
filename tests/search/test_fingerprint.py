"""Equal crashes have equal fingerprints in any version and on any machine; others differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.issue.fingerprint import (
    collapse,
    fingerprint,
    fingerprints,
    plain_error,
    plain_function,
    plain_message,
)
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex
from nodes.search.types import Frame, StackTrace

FILES = (
    "src/app/parser.py",
    "src/app/reader.py",
    "src/app/cli/main.py",
    "web/lib/store.ts",
    "web/lib/view.ts",
    "core/src/main/java/com/acme/Parser.java",
    "core/src/main/java/com/acme/Reader.java",
    "crates/engine/src/lexer.rs",
    "crates/engine/src/run.rs",
    "vendor/dep/thing.py",
    "tests/test_parser.py",
)
NAMES = PathIndex(FILES)
TRACE = StackTrace(
    "python",
    "app.errors.ParseError",
    "no such rule",
    (
        Frame("/home/ann/.venv/lib/python3.12/site-packages/app/parser.py", 41, "Parser.rule"),
        Frame("/home/ann/.venv/lib/python3.12/site-packages/app/reader.py", 7, "read"),
        Frame("/home/ann/project/run.py", 3, "<module>"),
    ),
)
PREFIXES = st.sampled_from(
    [
        "/home/bob/src/",
        "/usr/lib/python3/dist-packages/",
        "C:\\Users\\Bob\\site-packages\\",
        "file:///opt/x/",
        "/tmp/ci-1f2e/",
        "D:/a/",
        "",
    ]
)


def value(trace):
    found = fingerprint(trace, NAMES)
    assert found is not None
    return found.value


def at(trace, number, **given):
    frames = list(trace.frames)
    frames[number] = replace(frames[number], **given)
    return replace(trace, frames=tuple(frames))


@given(st.lists(st.integers(1, 10**6), min_size=3, max_size=3))
def test_shifted_lines_are_the_same_crash(lines):
    frames = tuple(replace(frame, line=line) for frame, line in zip(TRACE.frames, lines, strict=True))
    assert value(replace(TRACE, frames=frames)) == value(TRACE)


@given(PREFIXES, PREFIXES)
def test_another_machine_is_the_same_crash(one, other):
    moved = at(at(TRACE, 0, path=f"{one}app/parser.py"), 1, path=f"{other}app/reader.py")
    assert value(moved) == value(TRACE)


@given(PREFIXES)
def test_separators_do_not_matter(prefix):
    written = f"{prefix}src/app/parser.py".replace("/", "\\")
    assert value(at(TRACE, 0, path=written)) == value(TRACE)


@given(st.text(max_size=40), st.text(max_size=40))
def test_with_enough_frames_the_message_does_not_matter(one, other):
    assert value(replace(TRACE, message=one)) == value(replace(TRACE, message=other))


@given(st.from_regex(r"[a-z_]{3,12}", fullmatch=True), st.integers(0, 1))
def test_another_function_is_another_crash(name, number):
    changed = at(TRACE, number, function=name)
    assert (value(changed) == value(TRACE)) == (name == TRACE.frames[number].function)


@given(st.from_regex(r"[A-Z][a-z]{2,8}Error", fullmatch=True))
def test_another_error_is_another_crash(error):
    assert (value(replace(TRACE, error=error)) == value(TRACE)) == (error == "ParseError")


def test_another_file_is_another_crash():
    assert value(at(TRACE, 0, path="/x/app/cli/main.py")) != value(TRACE)


@settings(max_examples=40)
@given(st.integers(2, 300), st.integers(2, 300), st.integers(1, 4))
def test_the_depth_of_a_recursion_does_not_matter(one, other, size):
    cycle = [Frame("app/parser.py", n, f"walk_{'abcd'[n]}") for n in range(size)]
    deep = [replace(TRACE, frames=(*cycle * times, *TRACE.frames[1:])) for times in (one, other)]
    assert value(deep[0]) == value(deep[1])


def test_frames_of_other_projects_do_not_matter():
    others = (Frame("/usr/lib/python3.12/json/decoder.py", 1, "decode"), Frame("/x/vendor/dep/thing.py", 1, "call"))
    assert value(replace(TRACE, frames=(*others, *TRACE.frames, *others))) == value(TRACE)


PAIRS = {
    "python": (
        'Traceback (most recent call last):\n  File "/home/a/app/cli/main.py", line 10, in main\n'
        '  File "/home/a/app/parser.py", line 3, in parse\nValueError: bad value 17',
        'Traceback (most recent call last):\n  File "C:\\Users\\b\\app\\cli\\main.py", line 12, in main\n'
        '  File "C:\\Users\\b\\app\\parser.py", line 5, in parse\nValueError: bad value 18',
    ),
    "node": (
        "TypeError: x is undefined\n    at Store.get (file:///home/a/web/lib/store.ts:3:1)\n"
        "    at async render (file:///home/a/web/lib/view.ts:9:2)\n    at node:internal/process:95:5",
        "TypeError: y is undefined\n    at Store.get (C:\\b\\web\\lib\\store.ts:33:11)\n"
        "    at render (C:\\b\\web\\lib\\view.ts:99:2)",
    ),
    "java": (
        'Exception in thread "main" com.acme.ParseException: 3\n\tat com.acme.Parser.lambda$parse$0(Parser.java:10)\n'
        "\tat com.acme.Reader.read(Reader.java:20)\n\tat java.base/java.lang.Thread.run(Thread.java:829)",
        'Exception in thread "w-7" com.acme.ParseException: 4\n\tat com.acme.Parser.lambda$parse$3(Parser.java:18)\n'
        "\tat com.acme.Reader.read(Reader.java:24)\n\tat java.lang.Thread.run(Thread.java:750)",
    ),
    "rust": (
        "thread 'main' panicked at crates/engine/src/lexer.rs:10:5:\nboom\nstack backtrace:\n"
        "   0: engine::lexer::scan::{{closure}}::h0123456789abcdef\n             at ./crates/engine/src/lexer.rs:10:5\n"
        "   1: engine::run::go::h0123456789abcde0\n             at ./crates/engine/src/run.rs:7:1",
        "thread 'worker-3' panicked at crates/engine/src/lexer.rs:14:9:\nboom\nstack backtrace:\n"
        "   0: engine::lexer::scan::{{closure}}::hfedcba9876543210\n             at /b/crates/engine/src/lexer.rs:14\n"
        "   1: engine::run::go::hfedcba9876543211\n             at /b/crates/engine/src/run.rs:9:1",
    ),
}


@pytest.mark.parametrize(("one", "other"), PAIRS.values(), ids=PAIRS)
def test_pasted_traces_of_one_crash(one, other):
    left, right = (fingerprints(find_traces(text), NAMES) for text in (one, other))
    assert [found.basis for found in left] == ["frames"]
    assert [found.value for found in left] == [found.value for found in right]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("engine::lexer::scan::h0123456789abcdef", "lexer.scan"),
        ("engine::scan::{{closure}}::h0123456789abcdef", "scan.~"),
        ("core::Option<T>::map", "Option.map"),
        ("Vec<HashMap<K, Vec<V>>>::push", "Vec.push"),
        ("main.(*Server[int]).Serve.func1.2", "Serve.func"),
        ("com.acme.Parser.lambda$parse$0", "Parser.lambda$parse"),
        ("Foo$1.run", "Foo.run"),
        ("Program.<Main>b__0_1", "Program.b__"),
        ("std::sort(int*, int*)", "std.sort"),
        ("parse.isra.0.cold", "parse"),
        ("frame_dummy + 0x1f", "frame_dummy"),
        ("new Store", "Store"),
        ("async render", "render"),
        ("<module>", "~"),
        ("", ""),
    ],
)
def test_function_names_are_normalised(written, plain):
    assert plain_function(written) == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("index 3 out of range", "index 17 out of range"),
        ("cannot open '/home/a/x.txt'", "cannot open '/home/b/y.txt'"),
        ("cannot open /home/a/x.txt now", "cannot open C:\\b\\y.txt now"),
        ("no row 123e4567-e89b-12d3-a456-426614174000", "no row 00000000-e89b-12d3-a456-426614174999"),
        ("segfault at 0x7ffdeadbeef", "segfault at 0x10"),
        ("key “a” missing", "key “b” missing"),
        ("object 3f2a9bc81 gone", "object 77aa9bc81 gone"),
    ],
)
def test_messages_are_normalised(one, other):
    assert plain_message(one) == plain_message(other)


def test_the_message_counts_only_where_there_are_too_few_frames():
    short = replace(TRACE, frames=TRACE.frames[:1])
    same, different = replace(short, message="no such rule"), replace(short, message="recursion too deep")
    assert fingerprint(short, NAMES).basis == "message"
    assert value(same) == value(short) != value(different)


def test_an_empty_trace_has_no_fingerprint():
    assert fingerprint(StackTrace("python", None, None, ()), NAMES) is None
    assert fingerprint(StackTrace("python", "KeyError", None, ()), NAMES) is None


def test_errors_are_compared_by_their_last_part():
    assert plain_error("requests.exceptions.ConnectionError") == plain_error("ConnectionError") == "ConnectionError"


@given(st.lists(st.sampled_from("abc"), max_size=30))
def test_collapsing_is_idempotent(frames):
    assert collapse(collapse(frames)) == collapse(frames)


@given(st.text(max_size=200))
def test_any_name_and_message_can_be_read(text):
    plain_function(text)
    plain_message(text)
    plain_error(text)


def test_a_trace_that_is_repeated_without_its_error_is_the_same_crash():
    bare = replace(TRACE, error=None, message=None)
    assert fingerprints([TRACE, bare], NAMES) == fingerprints([TRACE], NAMES)
    assert len(fingerprints([bare], NAMES)) == 1
