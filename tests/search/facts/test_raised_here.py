"""The innermost own frame of a trace is located by its function and text."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex
from tests.search.facts.finding import facts_at, facts_of, of_kind
from tests.support.growth import assert_cheap
from tests.support.repositories import git, make_repository

PYTHON = (
    "# a line that came later\ndef load(path):\n    handle = open_it(path)\n    return handle\n\n\n"
    "def open_it(path):\n    raise OSError(path)\n"
)
CASES = [
    pytest.param(
        {"pkg/io.py": "# new\n\n\ndef load(path):\n    data = json.loads(path)\n    return data\n"},
        'Traceback (most recent call last):\n  File "/x/site-packages/pkg/io.py", '
        "line 2, in load\n    data = json.loads(path)\n"
        '  File "/usr/lib/python3.11/json/__init__.py", line 346, in '
        "loads\n    return _default_decoder.decode(s)\nValueError: no\n",
        ("pkg/io.py", 5, "load"),
        id="python-line-moved",
    ),
    pytest.param(
        {"src/zones.js": "'use strict'\nfunction parse(text) {\n  return text.split(':')\n}\n"},
        "TypeError: Cannot read properties of undefined\n    at parse "
        "(/app/src/zones.js:3:15)\n    at main (/app/other.js:1:1)\n",
        ("src/zones.js", 3, "parse"),
        id="javascript",
    ),
    pytest.param(
        {
            "src/main/java/org/acme/Zones.java": "package org.acme;\nclass Zones {\n  int parse(String s) {\n"
            "    throw new IllegalStateException(s);\n  }\n}\n"
        },
        'Exception in thread "main" java.lang.IllegalStateException: x\n\tat org.acme.Zones.parse(Zones.java:4)\n'
        "\tat com.other.Main.main(Main.java:9)\n",
        ("src/main/java/org/acme/Zones.java", 4, "Zones.parse"),
        id="java",
    ),
    pytest.param(
        {"zones/parse.go": "package zones\n\nfunc Parse(s []int) int {\n\treturn s[3]\n}\n"},
        "panic: runtime error: index out of range [3] with length 1\n\ngoroutine 1 [running]:\n"
        "acme.org/zones.Parse(...)\n\t/go/src/acme.org/zones/parse.go:4\nmain.main()\n\t/tmp/main.go:8 +0x1d\n",
        ("zones/parse.go", 4, "Parse"),
        id="go",
    ),
    pytest.param(
        {"src/zones.rs": "pub fn parse(s: Option<u8>) -> u8 {\n    s.unwrap()\n}\n"},
        "thread 'main' panicked at src/zones.rs:2:7:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n"
        "   0: acme::zones::parse\n             at ./src/zones.rs:2:7\n",
        ("src/zones.rs", 2, "parse"),
        id="rust",
    ),
    pytest.param(
        {"lib/zones.rb": "class Zones\n  def parse(s)\n    raise ArgumentError, s\n  end\nend\n"},
        "lib/zones.rb:3:in `parse': bad (ArgumentError)\n\tfrom bin/run:4:in `<main>'\n",
        ("lib/zones.rb", 3, "Zones.parse"),
        id="ruby",
    ),
    pytest.param(
        {
            "src/Zones.php": "<?php\nclass Zones {\n    function parse($s) "
            "{\n        throw new Exception($s);\n    }\n}\n"
        },
        "PHP Fatal error:  Uncaught Exception: x in /srv/src/Zones.php:4\nStack trace:\n"
        "#0 /srv/index.php(3): Zones->parse('x')\n#1 {main}\n  thrown in /srv/src/Zones.php on line 4\n",
        ("src/Zones.php", 4, "Zones.parse"),
        id="php",
    ),
]


@pytest.mark.parametrize(("files", "trace", "place"), CASES)
def test_the_innermost_own_frame_is_found(
    tmp_path: Path, files: dict[str, str], trace: str, place: tuple[str, int, str]
):
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", f"```\n{trace}```\n"), "raised_here")
    assert (found.path, found.line, found.symbol) == place


def _trace(*frames: tuple[str, int, str, str]) -> str:
    shown = "".join(f'  File "/x/{path}", line {line}, in {name}\n    {text}\n' for path, line, name, text in frames)
    return f"Traceback (most recent call last):\n{shown}ValueError: no\n"


def test_the_same_function_with_other_code_does_not_lead(tmp_path: Path):
    trace = _trace(("pkg/io.py", 3, "load", "return self._cache[path]"))
    (found,) = of_kind(facts_of(tmp_path, {"pkg/io.py": PYTHON}, "It crashes", trace), "raised_here")
    assert (found.exact, found.strong) == (False, False)
    assert found.says.endswith("the line that the trace prints is not in this file at this commit.")


def test_a_printed_line_that_another_function_has_is_not_called_missing(tmp_path: Path):
    trace = _trace(("pkg/io.py", 3, "load", "return self._cache[path]"))
    files = {"pkg/io.py": f"{PYTHON}\n\ndef other(self, path):\n    return self._cache[path]\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert found.says.endswith("the line may have moved.")
    assert found.unclaimed


def test_no_frame_is_called_innermost_if_a_function_inside_it_is_gone(tmp_path: Path):
    outer, inner = ("pkg/io.py", 3, "load", "handle = open_it(path)"), ("pkg/zip.py", 2, "unpack", "return path[9]")
    trace = _trace(outer, inner)
    files = {"pkg/io.py": PYTHON, "pkg/zip.py": "def unpack_all(path):\n    return path\n"}
    (found,) = of_kind(facts_of(tmp_path / "gone", files, "It crashes", trace), "raised_here")
    assert (found.path, found.strong) == ("pkg/io.py", False)
    assert found.says.endswith("a frame inside it cannot be placed at this commit.")
    files["pkg/zip.py"] = "def unpack(path):\n    return path[9]\n"
    (found,) = of_kind(facts_of(tmp_path / "there", files, "It crashes", trace), "raised_here")
    assert (found.path, found.strong) == ("pkg/zip.py", True)


def test_a_frame_of_a_renamed_function_is_at_the_only_line_with_its_code(tmp_path: Path):
    code = "def parse_body(text):\n    return text.encode('latin-1')\n"
    trace = (
        'Traceback (most recent call last):\n  File "/x/acme/lib/parser.py", line 57, in {}\n    {}\nValueError: no\n'
    )
    body = trace.format("decode_body", "return text.encode('latin-1')")
    (fact,) = of_kind(facts_of(tmp_path, {"lib/parser.py": code}, "Crash", body), "raised_here")
    assert (fact.path, fact.line, fact.symbol) == ("lib/parser.py", 2, "parse_body")
    other = trace.format("decode_body", "return text.encode('utf-16')")
    assert of_kind(facts_of(tmp_path, {"lib/parser.py": code}, "Crash", other), "raised_here") == []


def test_a_function_of_a_moved_file_is_found_by_its_only_definition(tmp_path: Path):
    files = {
        "train.py": "def train(batch):\n    loss = compute_loss(batch)\n    return loss\n",
        "tools/general.py": "def compute_loss(batch):\n    first, second = batch\n    return first\n",
    }
    frames = [
        ("train.py", 2, "train", "loss = compute_loss(batch)"),
        ("/content/drive/tools/utils.py", 90, "compute_loss", "first, second = batch"),
    ]
    (found,) = of_kind(facts_of(tmp_path / "moved", files, "It crashes", _trace(*frames)), "raised_here")
    assert (found.path, found.line, found.strong) == ("tools/general.py", 2, True)
    frames[1] = ("/usr/lib/python3/site-packages/tools_of_others/tools/utils.py", *frames[1][1:])
    (found,) = of_kind(facts_of(tmp_path / "foreign", files, "It crashes", _trace(*frames)), "raised_here")
    assert (found.path, found.line) == ("train.py", 2)


def test_of_crates_with_one_name_the_one_of_the_frame_is_meant(tmp_path: Path):
    code = "pub struct Rows;\n\nimpl Rows {\n    fn step_back(&mut self) -> u8 {\n        self.at.unwrap()\n    }\n}\n"
    files = {"zone-core/src/folded.rs": code, "zone-rope/src/rope.rs": code}
    body = (
        "thread 'main' panicked at /x/lib.rs:7:34:\ncalled `Option::unwrap()` on a `None` value\nstack backtrace:\n"
        "   0: zone_rope::rope::Rows::step_back\n   1: zone_core::search::find\n"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{body}```\n"), "raised_here")
    assert (found.path, "None does not fit" in found.says) == ("zone-rope/src/rope.rs", False)


@pytest.mark.parametrize(("call", "lines"), [("runLater(menu)", [4]), ("close(menu)", [])])
def test_a_frame_of_a_program_that_moved_the_packages_is_found_by_its_call(tmp_path: Path, call: str, lines: list[int]):
    code = (
        f"package com.acme.zones.gui;\nclass Listener {{\n  void onClose(Menu menu) {{\n    timer.{call};\n  }}\n}}\n"
    )
    trace = (
        "java.lang.UnsupportedOperationException\n\tat org.host.Timer.runLater(Timer.java:14)\n"
        "\tat Shop.jar//org.shop.gui.Listener.onClose(Listener.java:4)\n\tat org.host.Bus.call(Bus.java:7)\n"
    )
    found = of_kind(
        facts_of(tmp_path, {"src/com/acme/zones/gui/Listener.java": code}, "It stops", trace), "raised_here"
    )
    assert [fact.line for fact in found] == lines


def test_a_frame_without_a_file_is_found_by_the_only_definition_of_its_name(tmp_path: Path):
    files = {
        "src/key.c": "#include <stdlib.h>\n\nvoid\nkey_free(key *one)\n{\n    free(one->fingerprint);\n}\n",
        "src/read.c": "int read(int handle)\n{\n    return handle;\n}\n",
    }
    trace = "#0  raise () from /usr/lib/libc.so.6\n#1  read ()\n#2  key_free ()\n#3  main ()\n"
    (found,) = of_kind(facts_of(tmp_path / "one", files, "It aborts", trace), "raised_here")
    # `read` is the standard library's as well.
    assert (found.path, found.line, found.words, found.strong) == ("src/key.c", 4, "#2  key_free ()", False)
    files["src/old.c"] = files["src/key.c"]
    assert of_kind(facts_of(tmp_path / "two", files, "It aborts", trace), "raised_here") == []


_KEYS = {
    "src/key.c": "#include <stdlib.h>\n\nvoid\nkey_free(key *one)\n{\n    free(one->fingerprint);\n}\n",
    "src/store.cpp": "namespace acme {\nint Store::load(int n) {\n  return n;\n}\n}\n",
    "core/Cargo.toml": '[package]\nname = "acme_core"\n',
    "core/src/mesh.rs": "pub fn split_rows(text: &str) -> usize {\n    text.len()\n}\n",
    "app/src/org/acme/Session.kt": "package org.acme\nclass Session {\n  fun require(name: String) {\n  }\n}\n",
}


@pytest.mark.parametrize(
    ("printed", "path"),
    [
        pytest.param(
            "signal 11 (SIGSEGV), code 1 (SEGV_MAPERR), fault addr 0x10\nbacktrace:\n"
            "  #00 pc 000000000004a1b0  /apex/lib64/bionic/libc.so (__memcpy_simd+116) (BuildId: 1b9f)\n"
            "  #01 pc 000000000001a2b4  /data/app/lib/arm64/libacme.so (key_free+84) (BuildId: 40bb)",
            "src/key.c",
            id="tombstone",
        ),
        pytest.param(
            "    #00 pc 0001e1ac  /data/app-lib/org.acme-1/libacme.so (_ZN4acme5Store4loadEi+24)",
            "src/store.cpp",
            id="mangled",
        ),
        pytest.param(
            "    #00 pc 0001e1ac  /data/libacme.so (_ZZN4acme5Store4loadEiENKUlvE_clEv+4)",
            "src/store.cpp",
            id="closure",
        ),
        pytest.param(
            "Stack trace of thread 4401:\n#0  0x000055d0c1a2b3c4 n/a (acme + 0x2b3c4)\n"
            "#1  0x000055d0c1a2c000 _ZN4acme5Store4loadEi (acme + 0x2c000)",
            "src/store.cpp",
            id="core-dump",
        ),
        pytest.param(
            "00 00000016`f1f7b508 00007ffa`3672ecd1     ntdll!RtlFailFast2+0x2\n"
            "01 00000016`f1f7b510 00007ffa`366f44c4     tagger!acme::Store::load+0x1f",
            "src/store.cpp",
            id="windbg",
        ),
        pytest.param(
            "BUG: unable to handle page fault for address: 0000000000010000\nRIP: 0010:key_free+0x50/0x90 [acme]\n"
            "Code: f0 48 0f\nRAX: 0000000000000030 RBX: 0000000000010000\nCall Trace:\n <TASK>\n"
            " ? __die_body.cold+0x19/0x27\n usb_probe+0xe4/0x300 [usbcore]",
            "src/key.c",
            id="kernel",
        ),
        pytest.param(
            "IP: [<ffffffffc0841d99>] key_free.isra.0+0x19/0x240 [acme]", "src/key.c", id="old-kernel-and-a-clone"
        ),
        pytest.param(
            "#  SIGSEGV (0xb) at pc=0x00007fde52a6f072, pid=11\n# Problematic frame:\n"
            "# C  [libacme.so+0x1f072]  acme::Store::load(int)+0xa92",
            "src/store.cpp",
            id="jvm",
        ),
        pytest.param(
            "Native frames:\nV  [libjvm.so+0x7675c6]  oopDesc::is_a(Klass*) const+0x26\nJava frames:\n"
            "j  org.acme.Session.require(Ljava/lang/String;)V+112",
            "app/src/org/acme/Session.kt",
            id="jvm-interpreted",
        ),
        pytest.param(
            "/lib/libc.so.6(+0x45330)[0x7f10a1b2c330]\n./acme(key_free+0x2f)[0x40123f]", "src/key.c", id="glibc"
        ),
        pytest.param(
            " 1: /lib/libpthread.so.0(+0x12980) [0x7f1c2d3e4980]\n 2: (acme::Store::load(int)+0x9c) [0x55d0a1b2c39c]",
            "src/store.cpp",
            id="ceph",
        ),
        pytest.param(
            "*** SIGSEGV received at time=1712345678 on cpu 3 ***\n"
            "PC: @     0x639f92dc0400  (unknown)  acme::Store::load()\n"
            "    @     0x7f11a1b2c3d0  (unknown)  (unknown)",
            "src/store.cpp",
            id="abseil",
        ),
        pytest.param(
            "RuntimeError: unreachable\n"
            "    at std::panicking::begin::h718e0459ad45bd30 (wasm://wasm/0a:wasm-function[9]:0x2a)\n"
            "    at acme_core::mesh::split_rows::hf4a37f4321ed222e (wasm://wasm/0a:wasm-function[8]:0x1a)",
            "core/src/mesh.rs",
            id="wasm",
        ),
        pytest.param(
            "Uncaught Kotlin exception: kotlin.IllegalStateException: no session\n"
            "    at 1   shared    0x107311ed3    kfun:kotlin.IllegalStateException#<init>(kotlin.String?){} + 95 \n"
            "    at 2   shared      0x10766f09b        kfun:org.acme.Session#require(kotlin.String){} + 351 ",
            "app/src/org/acme/Session.kt",
            id="kotlin-native",
        ),
    ],
)
def test_a_symbol_of_a_dump_is_its_only_definition(tmp_path: Path, printed: str, path: str):
    (found,) = of_kind(facts_of(tmp_path, _KEYS, "It stops", f"It stops with\n\n```\n{printed}\n```\n"), "raised_here")
    assert found.path == path


@pytest.mark.parametrize(
    "printed",
    [
        pytest.param("    #00 pc 0001e1ac  /system/lib/libdb.so (_ZN2db5Store4loadEi+24)", id="another-namespace"),
        pytest.param("1: (std::vector<int>::load(int)+0x9c) [0x55d0a1b2c39c]", id="the-standard-library"),
        pytest.param("    #00 pc 0001e1ac  /data/libacme.so (_ZN4acme4Page4loadEi+24)", id="another-class"),
        pytest.param("at tokio::mesh::split_rows (wasm://wasm/0a:wasm-function[8]:0x1a)", id="another-crate"),
        pytest.param("The sum is key_free+0x50 here, (key_free+2) there and `a(key_free+0x2)`.", id="prose"),
        pytest.param("    @ 0000000000098e3c5 (unknown)\n    @ 00000000002c432", id="addresses"),
        pytest.param("@ann key_free\n@ 12 key_free", id="a-mention"),
    ],
)
def test_a_symbol_of_a_library_or_in_prose_is_no_frame(tmp_path: Path, printed: str):
    assert (
        of_kind(facts_of(tmp_path, _KEYS, "It stops", f"It stops with\n\n```\n{printed}\n```\n"), "raised_here") == []
    )


def test_a_frame_with_a_class_only_is_found_in_a_class_below_the_name_of_the_project(tmp_path: Path):
    files = {
        "Zones/net/Codes.cs": "namespace Zones.data {\n  class Codes {\n    class Row {\n"
        "      static Row parse(string line) {\n        return null;\n      }\n    }\n  }\n}\n",
        "Zones/net/Other.cs": "namespace Zones {\n  class Other {\n    void parse() {\n    }\n  }\n}\n",
    }
    trace = (
        "System.NullReferenceException: x\n   at {}.Codes.Row.parse(String line)\n   at System.Linq.Enumerable.Any()\n"
    )
    (found,) = of_kind(facts_of(tmp_path / "a", files, "It stops", trace.format("Zones.data")), "raised_here")
    assert (found.path, found.line, found.strong) == ("Zones/net/Codes.cs", 4, False)
    assert found.says.endswith("the trace gives no line.")
    whole = {path.replace("Zones/", "Acme.Zones/"): code for path, code in files.items()}
    (found,) = of_kind(facts_of(tmp_path / "c", whole, "It stops", trace.format("Acme.Zones")), "raised_here")
    assert (found.path, found.line) == ("Acme.Zones/net/Codes.cs", 4)
    # A library has a class of the same name.
    assert of_kind(facts_of(tmp_path / "b", files, "It stops", trace.format("Acme.data")), "raised_here") == []


@pytest.mark.parametrize(("depth", "unclaimed"), [(2, False), (3, True)])
def test_a_panic_deep_inside_a_library_supports_no_claim(tmp_path: Path, depth: int, *, unclaimed: bool):
    files = {"src/main.rs": "fn run(row: Row) -> u8 {\n    zones::parse(row)\n}\n"}
    inner = "".join(
        f"  {at}: zones::parse\n     at /root/.cargo/registry/src/a/zones-1.0.0/src/lib.rs:{at + 3}:2\n"
        for at in range(depth)
    )
    trace = (
        f"thread 'main' panicked at 'start index 1 is larger than end index 0'\nstack backtrace:\n{inner}"
        f"  {depth}: acme::run\n     at ./src/main.rs:2:5\n"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{trace}```\n"), "raised_here")
    assert (found.line, found.unclaimed) == (2, unclaimed)


def test_no_frame_is_called_innermost_if_an_installed_file_inside_it_is_gone(tmp_path: Path):
    trace = _trace(
        ("/x/site-packages/pkg/io.py", 3, "load", "handle = open_it(path)"),
        ("/x/site-packages/pkg/old.py", 8, "open_it_fast", "raise OSError(path)"),
    )
    (found,) = of_kind(facts_of(tmp_path, {"pkg/io.py": PYTHON}, "It crashes", trace), "raised_here")
    assert (found.symbol, found.strong) == ("load", False)
    assert found.says.endswith("a frame inside it cannot be placed at this commit.")


def test_a_line_without_a_function_leads_only_if_its_code_raises(tmp_path: Path):
    panic = "thread 'main' panicked at src/stats.rs:2:7:\nbegin <= end\n"
    raising = {"src/stats.rs": "pub fn run(s: Option<u8>) -> u8 {\n    s.unwrap()\n}\n"}
    (found,) = of_kind(facts_of(tmp_path / "raising", raising, "It panics", panic), "raised_here")
    assert (found.symbol, found.line) == ("run", 2)
    other = {"src/stats.rs": "pub fn run(s: Option<u8>) -> u8 {\n    let start = end - DAYS;\n    start\n}\n"}
    (found,) = of_kind(facts_of(tmp_path / "other", other, "It panics", panic), "raised_here")
    assert (found.line, found.exact, found.strong) == (2, False, False)
    assert "`run`" not in found.says


def test_a_frame_in_a_function_that_only_raises_is_weak(tmp_path: Path):
    trace = _trace(
        ("pkg/io.py", 3, "load", "handle = open_it(path)"), ("pkg/io.py", 8, "open_it", "raise OSError(path)")
    )
    facts = facts_of(tmp_path, {"pkg/io.py": PYTHON}, "It crashes", trace)
    (found,) = of_kind(facts, "raised_here")
    assert (found.symbol, found.strong, found.refuses) == ("open_it", False, True)


def test_wrappers_and_foreign_frames_are_skipped(tmp_path: Path):
    code = "def wrapper(*args):\n    return f(*args)\n\n\ndef load(path):\n    x = run(path)\n    return x\n"
    trace = _trace(
        ("pkg/io.py", 6, "load", "x = run(path)"),
        ("pkg/io.py", 2, "wrapper", "return f(*args)"),
        ("lib/json/decoder.py", 12, "decode", "raise ValueError"),
    )
    (found,) = of_kind(facts_of(tmp_path, {"pkg/io.py": code}, "It crashes", trace), "raised_here")
    assert (found.symbol, found.line, found.strong) == ("load", 6, True)


def test_the_root_of_a_chain_leads_without_a_claim(tmp_path: Path):
    files = {
        "pkg/io.py": "def load(path):\n    x = path[0]\n    return x\n\n\ndef run(p):\n    y = load(p)\n    return y\n"
    }
    chain = (
        _trace(("pkg/io.py", 2, "load", "x = path[0]"))
        + "\nThe above exception was the direct cause of the following exception:\n\n"
        + _trace(("pkg/io.py", 7, "run", "y = load(p)"))
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", chain), "raised_here")
    assert (found.symbol, found.strong, found.unclaimed) == ("load", True, True)


@pytest.mark.parametrize(
    ("inner", "by_library"),
    [
        pytest.param((), False, id="own-code-raised-it"),
        pytest.param((("pkg/deco.py", 2, "wrapper", "return f(*args)"),), False, id="through-a-wrapper"),
        pytest.param((("site-packages/boto3/inject.py", 678, "download", "result()"),), True, id="a-package"),
        pytest.param(
            (("/usr/lib/python3.11/json/decoder.py", 12, "decode", "scan()"),), True, id="the-standard-library"
        ),
    ],
)
def test_a_frame_states_whether_a_library_raised_the_error(tmp_path: Path, inner: tuple, by_library: bool):
    trace = _trace(("pkg/io.py", 2, "load", "x = path[0]"), *inner)
    files = {"pkg/io.py": "def load(path):\n    x = path[0]\n    return x\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert (found.strong, found.by_library) == (True, by_library)


def test_if_the_root_of_a_chain_is_foreign_the_wrapping_trace_is_read(tmp_path: Path):
    files = {"pkg/io.py": "def run(p):\n    y = engine.create_all(p)\n    return y\n"}
    chain = (
        _trace(("site-packages/sqlalchemy/compiler.py", 352, "process", "return compiled"))
        + "\nThe above exception was the direct cause of the following exception:\n\n"
        + _trace(
            ("pkg/io.py", 2, "run", "y = engine.create_all(p)"),
            ("site-packages/sqlalchemy/schema.py", 4554, "create_all", "tables=tables"),
        )
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", chain), "raised_here")
    assert (found.symbol, found.line, found.strong) == ("run", 2, False)


def test_a_trace_of_another_project_is_not_a_fact(tmp_path: Path):
    trace = _trace(("other/reader.py", 3, "load", "handle = open_it(path)"))
    assert of_kind(facts_of(tmp_path, {"pkg/io.py": PYTHON}, "It crashes", trace), "raised_here") == []


def test_a_trace_of_thousands_of_frames_is_read_within_limits(tmp_path: Path):
    frames = [("pkg/io.py", n, f"f{n}", "x = run(path)") for n in range(3_000)]
    trace = _trace(*frames)
    assert_cheap(lambda: facts_of(tmp_path, {"pkg/io.py": PYTHON}, "It crashes", trace), 10.0)


def test_the_line_below_a_short_frame_of_pytest_is_its_text(tmp_path: Path):
    body = (
        "```\n/opt/lib/python3.9/site-packages/zones/__init__.py:1: in <module>\n    from . import ranks\n"
        "/opt/lib/python3.9/site-packages/zones/ranks.py:9: in <module>\n    RANKS = np.arange(3, dtype=np.float_)\n"
        "E   AttributeError: `np.float_` was removed in the NumPy 2.0 release.\n```\n"
    )
    files = {
        "zones/__init__.py": "from . import ranks\n",
        "zones/ranks.py": "A = 1\nRANKS = np.arange(3, dtype=np.float_)\n",
    }
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", body), "raised_here")
    assert (found.path, found.line, found.exact, found.strong) == ("zones/ranks.py", 2, True, True)


ZONES = """class Zones {
    String name(Zone zone) {
        log.info(zone.id());
        return config.getFormat()
                .replace("a", zone.id())
                .replace("b", "c");
    }
}
"""
HELPFUL = 'Cannot invoke "String.replace(CharSequence, CharSequence)" because {} is null'


@pytest.mark.parametrize(
    ("because", "line", "says"),
    [
        pytest.param(
            'the return value of "acme.Config.getFormat()"', 4, "uses `.replace` on what `config.getFormat()` returns;",
            id="the-line-that-fits",
        ),
        pytest.param('"this.other"', 3, "the line may have moved.", id="two-values-fit"),
    ],
)  # fmt: skip
def test_a_moved_frame_is_at_the_only_line_that_the_error_fits(tmp_path: Path, because: str, line: int, says: str):
    trace = f"java.lang.NullPointerException: {HELPFUL.format(because)}\n\tat acme.Zones.name(Zones.java:3)\n"
    (found,) = of_kind(facts_of(tmp_path, {"acme/Zones.java": ZONES}, "It stops", trace), "raised_here")
    assert (found.line, found.symbol) == (line, "Zones.name")
    assert says in found.says


GO = (
    "package zones\n\nfunc Load(n *Zone) string {{\n\tm := n.Check()\n"
    "\tif m {{\n\t\t{}\n\t}}\n\treturn n.Name.String()\n}}\n"
)


@pytest.mark.parametrize(
    ("other", "line", "says"),
    [
        pytest.param("log(n)", 8, "calls `String` on this line; `panic` comes from inside that call.", id="one-call"),
        pytest.param("log(m.String())", 5, "the line may have moved.", id="two-calls"),
    ],
)
def test_a_moved_frame_is_at_the_only_call_of_the_frame_inside_it(tmp_path: Path, other: str, line: int, says: str):
    trace = (
        "panic: it stops\n\ngoroutine 1 [running]:\nnet/url.(*URL).String(0x0)\n"
        "\t/usr/local/go/src/net/url/url.go:810 +0x34\n"
        "main.Load(...)\n\t/src/zones/load.go:5 +0x1d\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"zones/load.go": GO.format(other)}, "It stops", trace), "raised_here")
    assert found.line == line
    assert found.says.endswith(says)


STORE = {
    "store/io.py": "def write_all(handle, data):\n    handle.write(data)\n",
    "store/cache.py": "def save_zone(zone):\n    write_all(zone.handle, zone.data)\n",
}
SAVED = (
    'Traceback (most recent call last):\n  File "store/cache.py", line 2, in save_zone\n'
    '    write_all(zone.handle, zone.data)\n  File "store/io.py", line 2, in write_all\n    handle.write(data)\n'
    "TypeError: bytes expected\n"
)


@pytest.mark.parametrize(
    ("title", "extra", "paths"),
    [
        pytest.param("save_zone fails for text", [], ["store/io.py", "store/cache.py"], id="title"),
        pytest.param("Zones are lost", ["look at store/cache.py"], ["store/io.py", "store/cache.py"], id="redirect"),
        pytest.param("write_all fails in save_zone", [], ["store/io.py"], id="the-innermost-as-well"),
        pytest.param("Zones are lost", [], ["store/io.py"], id="no-word"),
        pytest.param("Zones are lost with --save_zone-all", [], ["store/io.py"], id="a-part-of-an-option"),
    ],
)
def test_an_outer_frame_that_words_name_is_stated_too(tmp_path: Path, title: str, extra: list[str], paths: list[str]):
    found = of_kind(facts_of(tmp_path, STORE, title, f"```\n{SAVED}```", extra=extra), "raised_here")
    assert [fact.path for fact in found] == paths
    assert [fact.unclaimed for fact in found[1:]] == [True] * (len(paths) - 1)
    assert all("named in words as well" in fact.says for fact in found[1:])


NOTEBOOK = """It stops:

```
OperationalError                          Traceback (most recent call last)
<ipython-input-8-0ae6e12f6b98> in <module>()
----> 1 load(zones)

/usr/local/lib/python3.6/dist-packages/ledger/zones.py in load(zones)
      1 def load(zones):
      2     rows = []
----> 3     rows.append(zones.first())
      4     return rows

/usr/local/lib/python3.6/dist-packages/sqlalchemy/engine/base.py in first(self)
   1009             )
-> 1011             return meth(self)
   1012

OperationalError: near "(": syntax error
```
"""


def test_a_notebook_marks_the_line_of_a_frame_by_an_arrow(tmp_path: Path):
    files = {"ledger/zones.py": "def load(zones):\n    rows = []\n    rows.append(zones.first())\n    return rows\n"}
    (fact,) = of_kind(facts_of(tmp_path, files, "Loading fails", NOTEBOOK), "raised_here")
    assert (fact.line, fact.symbol, fact.exact, fact.by_library) == (3, "load", True, True)
    assert fact.words == "/usr/local/lib/python3.6/dist-packages/ledger/zones.py in load(zones)"


def test_a_panic_in_the_attribute_of_a_function_is_on_the_line_of_the_attribute(tmp_path: Path):
    files = {"src/main.rs": "mod api;\n\n#[room::main]\nasync fn main() {\n    api::start().unwrap();\n}\n"}
    trace = "thread 'main' panicked at src/main.rs:3:1:\ncannot make a room: Os { code: 1 }\n"
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", trace), "raised_here")
    assert (found.line, found.unclaimed or not found.strong) == (3, True)
    assert "check" not in found.says


@pytest.mark.parametrize(
    ("inner", "outer", "unclaimed"),
    [
        pytest.param("onDisable", "onEnable", True, id="within-the-start"),
        pytest.param("close", "open", True, id="within-opening"),
        pytest.param("onDisable", "tick", False, id="on-its-own"),
        pytest.param("draw", "onEnable", False, id="no-clean-up"),
    ],
)
def test_cleaning_up_within_a_start_hides_an_earlier_error(tmp_path: Path, inner: str, outer: str, unclaimed: bool):
    files = {
        "src/zone/Main.java": "package zone;\nclass Main {\n"
        f"  void {inner}() {{\n    list.save(file);\n  }}\n  void {outer}() {{\n    host.stop(this);\n  }}\n}}\n"
    }
    trace = (
        'java.lang.NullPointerException: Cannot invoke "zone.List.save(java.io.File)" because "Main.list" is null\n'
        f"\tat zone.Main.{inner}(Main.java:4)\n\tat org.host.Host.stop(Host.java:9)\n"
        f"\tat zone.Main.{outer}(Main.java:7)\n"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", trace), "raised_here")
    assert (found.line, found.unclaimed) == (4, unclaimed)


def test_of_functions_with_one_name_the_one_that_has_the_printed_line_is_meant(tmp_path: Path):
    files = {
        "zones/io.py": "class Zone(Base):\n    def __init__(self, x):\n        y = x\n        super().__init__(x)\n\n\n"
        "class Total(Base):\n    def __init__(self, x):\n        super().__init__(\n            x=x,\n        )\n"
    }
    trace = _trace(("zones/io.py", 3, "__init__", "super().__init__("))
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert (found.line, found.symbol, found.exact) == (9, "Total.__init__", True)


@pytest.mark.parametrize(("line", "symbols"), [(40, ["load"]), (3, ["Zone.inverse"])])
def test_of_functions_with_one_name_none_is_meant_if_the_printed_line_is_gone(
    tmp_path: Path, line: int, symbols: list[str]
):
    files = {
        "zones/io.py": "class Zone(Base):\n    def inverse(self, x):\n        y = x\n        return y\n\n\n"
        "class Total(Base):\n    def inverse(self, x):\n        return 1 / x\n",
        "zones/load.py": "def load(zone):\n    return zone.inverse(0)\n",
    }
    trace = _trace(
        ("zones/load.py", 2, "load", "return zone.inverse(0)"), ("zones/io.py", line, "inverse", "y = table.power(x)")
    )
    found = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert [fact.symbol for fact in found] == symbols


def test_a_frame_whose_line_is_blank_now_is_in_its_function(tmp_path: Path):
    files = {"zones/io.py": "x = 1\n\n\ndef load(path):\n    first = path\n\n    return first\n"}
    trace = _trace(("zones/io.py", 6, "load", "return self._cache[path]"))
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert (found.line, found.symbol, found.strong) == (4, "load", False)


def test_the_first_line_of_a_function_that_has_moved_did_nothing(tmp_path: Path):
    files = {"live.go": "package acme\n\nfunc (l *Live) poll(ctx context.Context) error {\n\treturn l.fetch(ctx)\n}\n"}
    trace = "panic: runtime error: invalid memory address or nil pointer dereference\ngoroutine 20 [running]:\n"
    trace += "example.com/acme.(*Live).poll(0x1d37)\n\t/src/acme/live.go:967 +0x10db\n"
    (fact,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{trace}```"), "raised_here")
    assert (fact.line, fact.unclaimed, fact.says.endswith("the line may have moved.")) == (3, True, True)


@pytest.mark.parametrize("folder", ["RowReader", "row-reader", "ROW_READER"])
def test_a_folder_may_have_another_spelling(tmp_path: Path, folder: str):
    code = "class Reader:\n    def load(self, row):\n        return row.data['zone']\n"
    files = {"row_reader/main.py": code, "other/main.py": "def main():\n    return 1\n", "last/main.py": "x = 1\n"}
    frames = (f"/opt/host/plugins/{folder}/main.py", 3, "load", "return row.data['zone']")
    (found,) = of_kind(facts_of(tmp_path, files, "KeyError", _trace(frames)), "raised_here")
    assert (found.path, found.line, found.strong) == ("row_reader/main.py", 3, True)


def test_a_method_in_a_bundle_is_found_by_its_class(tmp_path: Path):
    files = {
        "src/main.ts": "export class ZonePlugin {\n  async load() {\n    this.rows = []\n  }\n"
        "  next() {\n    return 1\n  }\n}\n",
        "src/other.ts": "export class OtherPlugin {\n  async load() {\n    return 2\n  }\n}\n",
    }
    trace = (
        "TypeError: Failed\n    at ZonePlugin.eval (plugin:zones:84:31)\n    at Generator.next (<anonymous>)\n"
        "    at ZonePlugin.load (plugin:zones:75:16)\n    at app.js:1:258511\n"
    )
    (found,) = of_kind(facts_of(tmp_path / "a", files, "It does not start", trace), "raised_here")
    assert (found.path, found.line, found.symbol) == ("src/main.ts", 2, "ZonePlugin.load")
    assert found.words == "at ZonePlugin.load (plugin:zones:75:16)"
    # A class of one word may be the runtime's.
    named = trace.replace("ZonePlugin", "Plugin")
    other = {path: text.replace("ZonePlugin", "Plugin") for path, text in files.items()}
    assert of_kind(facts_of(tmp_path / "b", other, "It does not start", named), "raised_here") == []


@pytest.mark.parametrize(("name", "found"), [("loadZones", [2]), ("load", []), ("nextZones", [])])
def test_a_method_in_a_bundle_that_shortens_classes_is_found_by_its_name(tmp_path: Path, name: str, found: list[int]):
    members = f"  {name}() {{\n    return this.rows\n  }}\n  nextZones() {{\n    return 1\n  }}\n"
    files = {
        "src/main.ts": f"export class Main {{\n{members}}}\n",
        "src/other.ts": "export class Other {\n  nextZones() {\n    return 2\n  }\n}\n",
    }
    trace = f"TypeError: Failed\n    at co.{name} (plugin:zones:84:31)\n    at new po (plugin:zones:75:16)\n"
    facts = of_kind(facts_of(tmp_path, files, "It does not start", trace), "raised_here")
    assert [fact.line for fact in facts] == found


@pytest.mark.parametrize(
    ("library", "name", "is_own"),
    [("libwayland-client.so.0", "zones", False), ("libwayland-client.so.0", "wayland", True), ("zones", "zones", True)],
)
def test_a_function_of_a_library_of_the_system_is_not_the_projects(
    tmp_path: Path, library: str, name: str, is_own: bool
):
    code = "int zone_get_listener(struct zone *z) {\n  return z->listener;\n}\n"
    trace = (
        "Signal: 11 (SEGV)\n\n#0  0x00007f2681ea7a2c raise (libc.so.6 + 0x98a2c)\n"
        f"#1  0x00007f26853e1be4 zone_get_listener ({library} + 0x4be4)\n#2  0x00007f2684d6bac6 main (zones + 0x7ac6)\n"
    )
    facts = facts_of(tmp_path / name, {"src/zone.c": code}, "It stops", f"```\n{trace}```\n")
    assert bool(of_kind(facts, "raised_here")) is is_own


@pytest.mark.parametrize(
    ("marks", "key"), [("~~~~~~~~~~^^^^^^^^", "row.id"), ("~~~~^^^^^^", "ZONE"), ("^^^^^^^^^^^^^^^^^^", None)]
)
def test_marks_below_a_line_tell_which_key_is_missing(tmp_path: Path, marks: str, key: str | None):
    code = "def find(rows, row):\n    return rows[ZONE][row.id]\n"
    trace = (
        'Traceback (most recent call last):\n  File "/a/zones.py", line 2, in find\n    return rows[ZONE][row.id]\n'
        f"           {marks}\nKeyError: 'x'\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"zones.py": code}, "It fails", f"```\n{trace}```"), "raised_here")
    assert (f"looks up `{key}`" in found.says) is (key is not None)


@pytest.mark.parametrize(
    ("line", "raises"),
    [
        ("_ => throw new ZoneException(),", True),
        ("return rows ?? throw new Acme.ZoneException(rows);", True),
        ("return rows ?? throw new OtherException();", False),
    ],
)
def test_an_expression_that_raises_itself(tmp_path: Path, line: str, *, raises: bool):
    code = f"namespace Zones {{\n  class Rows {{\n    int Read(Kind kind) {{\n      {line}\n    }}\n  }}\n}}\n"
    trace = "Acme.ZoneException: x\n   at Zones.Rows.Read(Kind kind) in /a/Zones/Rows.cs:line 4\n"
    (found,) = of_kind(facts_of(tmp_path, {"Zones/Rows.cs": code}, "It stops", trace), "raised_here")
    assert found.says.endswith("raises `Acme.ZoneException` on this line.") is raises


@pytest.mark.parametrize(
    "above",
    [
        "freed by thread T0 here:",
        "previously allocated by thread T0 here:",
        "  Uninitialized value was created by a heap allocation",
    ],
)
def test_where_memory_was_allocated_or_freed_is_not_where_the_error_was(tmp_path: Path, above: str):
    files = {"lexer.c": "int read(char *t) {\n    return t[1];\n}\n\nvoid drop(char *t) {\n    free(t);\n}\n"}
    crash = "==9==ERROR: AddressSanitizer: heap-use-after-free on address 0x6020\n    #0 0x55d0 in read lexer.c:2:5\n"
    other = f"\n{above}\n    #0 0x55d1 in free (/home/a/out+0xb0)\n    #1 0x55d2 in drop lexer.c:6:5\n"
    facts = facts_of(tmp_path, files, "It stops", f"```\n{crash}{other}```\n")
    assert [(fact.path, fact.line) for fact in of_kind(facts, "raised_here")] == [("lexer.c", 2)]
    (only,) = fingerprints(find_traces(crash + other), PathIndex(("lexer.c",)))
    assert only.error == "heap-use-after-free"


def test_a_frame_in_a_template_is_on_its_line(tmp_path: Path):
    files = {
        "acme/templates/base.html": "<body>\n{{ crumbs(page.trail) }}\n</body>\n",
        "acme/app.py": "def render(name):\n    return templates[name]\n",
    }
    trace = (
        "Traceback (most recent call last):\n  File \"/srv/acme/acme/templates/base.html\", line 2, in block 'body'\n"
        "    {{ crumbs(page.trail) }}\njinja2.exceptions.UndefinedError: 'crumbs' is undefined\n"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", trace), "raised_here")
    assert (found.path, found.line) == ("acme/templates/base.html", 2)


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param('"tests": [{"name": "total", "file": "src/fold.py", "line": 2}]', id="no-stack"),
        pytest.param('"stack": [{"name": "total", "size": 3, "line": 2}]', id="no-file"),
        pytest.param('"stack": [{"name": "total", "file": "fold", "line": 2, "of": "a"}]', id="no-ending"),
    ],
)
def test_other_objects_of_json_are_no_frames(listed: str):
    assert find_traces(f"It fails with\n\n{{{listed}}}\n") == []


@pytest.mark.parametrize(("printed", "exact"), [("found = r.findall('x')", True), ("old = r.split('x')", False)])
def test_a_warning_prints_its_line_of_source(tmp_path: Path, printed: str, exact: bool):
    code = "def scan(r):\n    found = r.findall('x')\n    return found\n"
    body = f"```\n  /home/me/acme/zones/io.py:2: DeprecationWarning: findall is old\n    {printed}\n```"
    (fact,) = of_kind(facts_of(tmp_path, {"zones/io.py": code}, "Warnings in tests", body), "raised_here")
    assert (fact.line, fact.exact) == (2, exact)


RUBY = (
    "class Divider\n  def half(x, y)\n    x / y\n  end\n\n"
    "  def each_of(list)\n    list.map { Integer(it) }\n  end\nend\n"
)


@pytest.mark.parametrize(
    ("frames", "line", "says"),
    [
        pytest.param(
            "lib/divide.rb:3:in 'Integer#/': divided by 0 (ZeroDivisionError)\n"
            "\tfrom lib/divide.rb:3:in 'Divider#half'",
            3, "`Divider.half` divides by `y`; the error says that this was zero.", id="operator",
        ),
        pytest.param(
            "lib/divide.rb:7:in 'Kernel#Integer': invalid value (ArgumentError)\n"
            "\tfrom lib/divide.rb:7:in 'block in Divider#each_of'\n\tfrom lib/divide.rb:7:in 'Array#map'\n"
            "\tfrom lib/divide.rb:7:in 'Divider#each_of'",
            7, "`ArgumentError` passes through `Divider.each_of`; this line is its innermost frame", id="block",
        ),
        pytest.param(
            "lib/top.rb:1:in 'Kernel#require': cannot load such file -- pstore (LoadError)\n"
            "\tfrom lib/top.rb:1:in '<top (required)>'",
            1, "`LoadError` passes through `lib/top.rb`; this line is its innermost frame", id="top",
        ),
        pytest.param(
            "lib/divide.rb:3:in `/': divided by 0 (ZeroDivisionError)\n\tfrom lib/divide.rb:3:in `half'",
            3, "`Divider.half` divides by `y`; the error says that this was zero.", id="ruby-3.3",
        ),
    ],
)  # fmt: skip
def test_a_built_in_method_of_ruby_is_no_frame_of_the_file(tmp_path: Path, frames: str, line: int, says: str):
    files = {"lib/divide.rb": RUBY, "lib/top.rb": 'require "pstore"\n'}
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{frames}\n```\n"), "raised_here")
    assert (found.line, found.says.startswith(says)) == (line, True), found.says


def test_a_bundle_of_a_package_with_a_scope_is_compiled_from_its_source(tmp_path: Path):
    files = {
        "package.json": '{"name": "@acme/zones"}',
        "src/index.ts": "export default () => ({\n  async renderZones(bundle: Zone) {\n    bundle.b = 1\n  },\n})\n",
    }
    trace = "Error: it assigns\n    at {} (file:///home/x/app/node_modules/@{}/zones/dist/index.js:91:29)\n"
    (found,) = of_kind(
        facts_of(tmp_path, files, "It stops", trace.format("Context.renderZones", "acme")), "raised_here"
    )
    assert (found.path, found.line) == ("src/index.ts", 2)
    other = facts_of(tmp_path, files, "It stops", trace.format("Context.renderZones", "other"))
    assert of_kind(other, "raised_here") == []


@pytest.mark.parametrize(("other", "line"), [("npm.size", 2), ("cli.size", 1)], ids=["same-value", "another"])
def test_the_first_of_lines_that_do_the_same_is_meant(tmp_path: Path, other: str, line: int):
    code = f"export function sizeOf(npm: N, cli: N) {{\n  log(npm.size)\n  return {other}\n}}\n"
    error = "TypeError: Cannot read properties of undefined (reading 'size')"
    trace = f"{error}\n    at sizeOf (/srv/zones/dist/size.js:68:6)\n"
    files = {"package.json": '{"name": "zones"}', "src/size.ts": code}
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", trace), "raised_here")
    assert found.line == line


def test_a_line_outside_functions_that_is_blank_now_is_not_lost(tmp_path: Path):
    trace = "lib/top.rb:2:in 'Kernel#require': cannot load (LoadError)\n\tfrom lib/top.rb:2:in '<main>'"
    facts = facts_of(tmp_path, {"lib/top.rb": "A = 1\n\nB = A\n"}, "It stops", f"```\n{trace}\n```\n")
    (found,) = of_kind(facts, "raised_here")
    assert (found.line, found.says.endswith("the line may have moved.")) == (3, True)


def test_a_frame_is_named_by_its_own_line_and_not_by_a_long_message_before_it(tmp_path: Path):
    code = "<?php\nclass ZoneStore\n{\n    function model($name)\n    {\n        return call_zone($name);\n    }\n}\n"
    message = f"call_zone(): Argument #1 ($zone) {'is not a zone of this kind, ' * 8}"
    log = f'[2026-01-23 18:24:25] local.ERROR: {message} {{"exception":"[object] (TypeError(code: 0): {message} at '
    log += "/srv/src/ZoneStore.php:6)\n[stacktrace]\n#0 /srv/src/ZoneStore.php(6): call_zone('a')\n"
    log += "#1 /srv/index.php(3): ZoneStore->model('a')\n"
    (found,) = of_kind(facts_of(tmp_path, {"src/ZoneStore.php": code}, "It stops", f"```\n{log}```\n"), "raised_here")
    assert (found.line, found.strong, found.words) == (6, True, "#0 /srv/src/ZoneStore.php(6): call_zone('a')")


def test_a_function_of_a_shrunk_program_is_found_in_its_package(tmp_path: Path):
    files = {
        "app/home/Zones.kt": "package com.acme.home\n\nfun ZoneList() {\n    show(cache)\n}\n",
        "app/home/HomeAlbum.kt": "package com.acme.home\n\nfun Album() {\n    show(1)\n}\n",
    }
    trace = "java.lang.IllegalStateException\n\tat lib.Cache.keys(SourceFile:6)\n"
    trace += "\tat com.acme.{}.HomeAlbumKt.ZoneList(SourceFile:1342)\n"
    for package, found in (("home", [("app/home/Zones.kt", 3)]), ("other", [])):
        facts = facts_of(tmp_path / package, files, "It stops", f"```\n{trace.format(package)}```\n")
        assert [(fact.path, fact.line) for fact in of_kind(facts, "raised_here")] == found


@pytest.mark.parametrize(
    ("error", "words"),
    [
        pytest.param("Error: the moor is closed", "`Error: the moor is closed` passes", id="any-error"),
        pytest.param("MoorError: the moor is closed", "`MoorError` passes", id="a-class"),
        pytest.param(f"Error: {'the moor is closed ' * 4}", "`Error` passes", id="a-long-message"),
    ],
)
def test_an_error_without_a_class_is_named_by_its_message(tmp_path: Path, error: str, words: str):
    files = {"lib/moor.js": "function moor(a) {\n  const berth = a.berth()\n  return berth\n}\n"}
    trace = f"{error}\n    at moor (/srv/lib/moor.js:2:9)\n    at run (/srv/main.js:7:1)\n"
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{trace}```"), "raised_here")
    assert found.says.startswith(words)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        pytest.param(
            '8192 "Function shed() is deprecated since 8.5"', "`Kelp.cut` has `shed(…)`; the error says", id="its"
        ),
        pytest.param("It was seen on Monday", "The error passes through `lib/kelp.php`", id="prose"),
    ],
)
def test_the_error_that_a_handler_prints_above_the_place(tmp_path: Path, message: str, says: str):
    code = "<?php\nclass Kelp {\n  function cut($leaf, $stem) {\n    shed($this->leaves['outer']);\n  }\n}\n"
    calls = (
        "lib/kelp.php:4 onError()\nlib/kelp.php:9 old_kelp->cut()\ninc/cut.php:3 old_kelp->cut()\nindex.php:2 show()\n"
    )
    body = f"```\n{message}\nin /srv/www/lib/kelp.php at line 4.\n\n{calls}```\n"
    (fact, *_) = of_kind(facts_of(tmp_path, {"lib/kelp.php": code}, "Warning", body), "raised_here")
    assert (fact.line, fact.says.startswith(says)) == (4, True), fact.says


@pytest.mark.parametrize(
    ("has", "unclaimed"), [("from .base import Zone\n", True), ("from .base import Area\n", False)]
)
def test_an_import_of_what_an_own_module_has_supports_no_claim(tmp_path: Path, has: str, *, unclaimed: bool):
    files = {"main.py": "from .core.zones import Zone\n", "core/zones/__init__.py": has}
    trace = '  File "/srv/plugins/acme/main.py", line 1, in <module>\n    from .core.zones import Zone\n'
    error = "ImportError: cannot import name 'Zone' from 'plugins.acme.core.zones' (/srv/plugins/acme)"
    body = f"```\nTraceback (most recent call last):\n{trace}{error}\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It does not start", body), "raised_here")
    assert (fact.path, fact.unclaimed) == ("main.py", unclaimed)


def test_a_static_initialiser_of_java_has_the_line_of_its_frame(tmp_path: Path):
    code = (
        "package acme;\n\npublic class Version {\n    static {\n        patch = Integer.parseInt(parts[2]);\n    }\n}\n"
    )
    body = (
        '```\njava.lang.NumberFormatException: For input string: "build"\n'
        "\tat java.base/java.lang.Integer.parseInt(Integer.java:662)\n\tat acme.Version.<clinit>(Version.java:5)\n```"
    )
    (fact,) = of_kind(facts_of(tmp_path, {"src/acme/Version.java": code}, "It stops", body), "raised_here")
    assert (fact.line, "calls `parseInt` on this line" in fact.says) == (5, True)


def test_a_line_of_another_version_is_shown_at_a_call_of_the_next_frame(tmp_path: Path):
    calls = "    setState(() => a = 1);\n    setState(() => a = 2);\n"
    code = f"class Zone {{\n  Future<void> check() async {{\n    await load();\n{calls}  }}\n}}\n"
    body = (
        "```\nNull check operator used on a null value\n"
        "#0      State.setState (package:flutter/src/widgets/framework.dart:1219)\n"
        "#1      Zone.check (package:acme/zone.dart:182)\n<asynchronous suspension>\n```"
    )
    (fact,) = of_kind(facts_of(tmp_path, {"lib/zone.dart": code}, "It stops", body), "raised_here")
    assert (fact.line, "the line may have moved" in fact.says) == (5, True)


@pytest.mark.parametrize(
    ("error", "unclaimed"), [("NoClassDefFoundError: host/Zone", True), ("ArithmeticException: / by zero", False)]
)
def test_a_class_that_is_not_there_at_run_time_supports_no_claim(tmp_path: Path, error: str, *, unclaimed: bool):
    code = "package acme;\n\npublic class SetUp {\n    Object make() {\n        return total / count;\n    }\n}\n"
    body = f"```\njava.lang.{error}\n\tat acme.SetUp.make(SetUp.java:5)\n\tat acme.Main.main(Main.java:3)\n```"
    make_repository(tmp_path, {"src/acme/SetUp.java": code})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"src/acme/SetUp.java": code, "b.txt": "b"})
    (fact,) = of_kind(facts_at(tmp_path, head, "It stops", f"Version 1.2.0\n\n{body}"), "raised_here")
    assert (fact.line, fact.unclaimed) == (5, unclaimed)


@pytest.mark.parametrize(("package", "lost"), [("org.acme.reef.deep", True), ("org.acme.shore", False)])
def test_a_class_that_the_commit_lacks_is_inside_the_next_frame(tmp_path: Path, package: str, *, lost: bool):
    code = "package org.acme.reef;\n\nclass Reef {\n    void fill() {\n        host.run();\n    }\n}\n"
    trace = (
        f"java.lang.NoSuchMethodError: 'void host.Level.make()'\n\tat {package}.Level.create(Level.java:117)\n"
        "\tat org.acme.reef.Reef.fill(Reef.java:5)\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"src/org/acme/reef/Reef.java": code}, "It stops", trace), "raised_here")
    assert found.says.endswith("a frame inside it cannot be placed at this commit.") is lost
