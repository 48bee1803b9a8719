"""Reports as people paste them: each leads to the line that a reader would point at, and to no other file."""
# ruff: noqa: E501  a table of reports reads better in rows

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from nodes.search.facts.levels import statement
from tests.search.facts.finding import facts_at, facts_of, of_kind
from tests.support.repositories import git, make_repository

JS = "class Boat {\n  add(list) {\n    list.forEach(it => {\n      it.kind = host.Kinds.TUG;\n    });\n  }\n}\n"
CUT = 'pub fn show(text: &str) {\n    if text.len() > 100 {\n        println!("{}", &text[..100]);\n    }\n}\n\npub fn last() {\n    stop();\n}\n'
LOG = "2026-01-09 19:54:31.{} | error | "
DART = "class Reef {\n  String cut(String path, String head) {\n    return path.substring(head.length);\n  }\n}\n"
KOTLIN = "package com.acme\n\nclass Dock {\n    fun first(at: Int) {\n        show(berths[at])\n    }\n}\n"
ZIG = "pub fn add(a: u8) u8 {\n    const b = a + 1;\n    return b;\n}\n"
GO = 'package keel\n\nfunc (k *Keel) Fit() {\n\tk.gate("first")\n}\n\nfunc (k *Keel) Bolt() {\n\tk.gate("reply_cut")\n}\n'


class Case(NamedTuple):
    """The files of a repository, a report, and the path, the line and words of the fact that is expected."""

    files: dict[str, str]
    body: str
    path: str
    line: int
    says: str
    title: str = "It fails"
    absent: str = "\0"
    """A path that no fact has."""
    kind: str = ""
    """The kind of the fact; any kind if it is empty."""
    leads: bool = True
    """Whether the place leads the report."""


CASES = {
    "times between frames": Case(
        {"boat.js": JS, "base/boat.js": "run();\n" * 9, "package.json": '{"name": "acme-boat"}\n'},
        "TypeError: Cannot read properties of undefined (reading 'TUG')\n\n05.05.2026\n07:37:08\n"
        "    at /srv/node_modules/acme-boat/boat.js:4:28\n\n05.05.2026\n07:37:08\n"
        "    at Boat.add (/srv/node_modules/acme-boat/boat.js:3:10)\n\n05.05.2026\n07:37:08\n"
        "    at Boat.run (/srv/node_modules/acme-boat/boat.js:9:10)\n",
        "boat.js", 4, "uses `.TUG` on `host.Kinds`", absent="base/boat.js",
    ),
    "newest line first": Case(
        {"boat.js": JS, "dock.js": "class Dock {\n  run() {\n    this.boat.add([1]);\n  }\n}\n"},
        "```\n"
        + LOG.format("177") + "at Dock.run (/srv/acme/dock.js:3:15)\n"
        + LOG.format("176") + "at Boat.add (/srv/acme/boat.js:4:28)\n"
        + LOG.format("175") + "TypeError: Cannot read properties of undefined (reading 'TUG')\n"
        + LOG.format("174") + "Caught by the controller\n```\n",
        "boat.js", 4, "uses `.TUG` on `host.Kinds`", absent="dock.js",
    ),
    "constant index of a panic": Case(
        {"src/lib.rs": CUT},
        "thread 'main' panicked at src/lib.rs:9:38:\nend byte index 100 is not a char boundary; it is inside '─' (bytes 99..102)\n",
        "src/lib.rs", 3, "`&text[..100]`",
    ),
    "terse frames of Dart": Case(
        {"lib/src/reef.dart": DART, "pubspec.yaml": "name: acme\n"},
        "RangeError (start): Invalid value: Not in inclusive range 0..4: 22\nat package:acme/src/reef.dart 3 Reef.cut\n"
        "at package:acme/src/other.dart 70 Other.run\n",
        "lib/src/reef.dart", 3, "has `path.substring(head.length)`",
    ),
    "accessor of a library": Case(
        {"src/com/acme/Dock.kt": KOTLIN},
        "java.lang.IndexOutOfBoundsException: index: 2, size: 1\n\tat lib.lists.Checks.checkElementIndex$runtime(Checks.kt:15)\n"
        "\tat lib.lists.Vector.get(Vector.kt:146)\n\tat com.acme.Dock.first(Dock.kt:5)\n",
        "src/com/acme/Dock.kt", 5, "reads `berths[at]`",
    ),
    "line that Zig prints": Case(
        {"src/add.zig": ZIG, "src/main.zig": "pub fn main() void {\n    _ = add(255);\n}\n"},
        "thread 7 panic: integer overflow\n/tmp/acme/src/add.zig:3:17: 0x1 in add (acme)\n    const b = a + 1;\n                ^\n"
        "/tmp/acme/src/main.zig:2:12: 0x2 in main (acme)\n    _ = add(255);\n           ^\n",
        "src/add.zig", 2, "`panic: integer overflow` passes through `add`; this line is",
    ),
    "code beside a place": Case(
        {"keel/keel.go": GO}, 'Two goroutines reach these:\n\n- `keel/keel.go:4` — `k.gate("reply_cut")`\n',
        "keel/keel.go", 8, "The report names this line of `Keel.Bolt`.",
    ),
    "arrow below a trace": Case(
        {"src/Config.php": "<?php\nclass Config\n{\n    public function mcp(): bool\n    {\n        return $this->get('mcp', false);\n    }\n}\n"},
        "```\nTypeError\n\n  Config::mcp(): Return value must be of type bool, string returned\n\n  at src/Config.php:7\n"
        "      5▕     {\n      6▕         logger('x');\n  ➜   7▕         return $this->get('mcp', false);\n      8▕     }\n```\n",
        "src/Config.php", 6, "`Config.mcp`",
    ),
    "name that is not imported": Case(
        {"acme/__init__.py": "from .browser import (\n    Open,\n    ClickThere,\n)\n", "acme/browser.py": "class Open:\n    pass\n"},
        'Traceback (most recent call last):\n  File "/srv/acme/__init__.py", line 1, in <module>\n    from .browser import (\n'
        "ImportError: cannot import name 'ClickThere' from 'acme.browser' (/srv/acme/browser.py)\n",
        "acme/__init__.py", 3, "“cannot import name 'ClickThere' from 'acme.browser'” fits this line", leads=False,
    ),
    "module that is missing": Case(
        {"acme/core.py": "from .json_utils import parse\nfrom .trigger_rules import load\n", "acme/json_utils.py": "def parse():\n    pass\n"},
        "Error loading: No module named 'plugins.acme.trigger_rules'\n",
        "acme/core.py", 2, "the error says “No module named 'plugins.acme.trigger_rules'”",
    ),
    "script of the project's examples": Case(
        {"acme/bench/speed.py": "def main():\n    add(\n        help='95% CI'\n    )\n", "acme/__init__.py": ""},
        'Traceback (most recent call last):\n  File "/srv/acme/bench/speed.py", line 2, in main\n    add(\nValueError: unsupported format\n',
        "acme/bench/speed.py", 2, "`ValueError` passes through `main`",
    ),
    "function of one of two files": Case(
        {"src/chart/format.js": "export function point(p) {\n  return p.x;\n}\n", "src/lib/format.js": "export function day(d) {\n  return d.y;\n}\n"},
        "TypeError: Cannot read properties of undefined (reading 'x')\n    at point (format.js:2:12)\n    at draw (chart.js:9:3)\n",
        "src/chart/format.js", 2, "uses `.x` on `p`", absent="src/lib/format.js",
    ),
    "standard library of OCaml": Case(
        {"lib/map.ml": "let find x = x\n" * 9, "idl/state.ml": "let typ m k =\n  Map.find k m\n"},
        'Fatal error: exception Not_found\nRaised at Stdlib__Map.Make.find in file "map.ml", line 7, characters 1-9\n'
        'Called from Idl.State.typ in file "idl/state.ml", line 2, characters 2-9\n',
        "idl/state.ml", 2, "", absent="lib/map.ml",
    ),
    "module of Perl below its version": Case(
        {"lib/Acme/Trim.pm": "package Acme::Trim;\nsub cut {\n  return $_[0]->start;\n}\n1;\n", "lib/Acme/Old/Trim.pm": "package Acme::Old::Trim;\n1;\n1;\n"},
        'Can\'t call method "start" on an undefined value at /home/ci/perl5/perlbrew/perls/perl-5.38.2/lib/site_perl/5.38.2/Acme/Trim.pm line 3, <G> line 1.\n'
        "\tAcme::Trim::cut(0) called at /home/ci/perl5/perlbrew/perls/perl-5.38.2/bin/trim line 8\n",
        "lib/Acme/Trim.pm", 3, "uses `.start`",
    ),
    "widget that Flutter names": Case(
        {"lib/chart.dart": "class Chart {\n  top() {\n    return a!.b;\n  }\n}\n", "lib/page.dart": "show() {\n  return Chart();\n}\n", "pubspec.yaml": "name: acme\n"},
        "The following _TypeError was thrown building Chart(dirty):\nNull check operator used on a null value\n\n"
        "The relevant error-causing widget was:\n  Chart\n  Chart:file:///home/ci/acme/lib/page.dart:2:10\n\n"
        "When the exception was thrown, this was the stack:\n#0      Chart.top (package:acme/chart.dart:3:13)\n"
        "#1      Element.build (package:flutter/src/widgets/framework.dart:5799:49)\n",
        "lib/chart.dart", 3, "`a`",
    ),
    "file installed as compiled": Case(
        {"src/memory-guard.ts": "export class Guard {\n  start() {\n    this.id = setInterval(() => {}, 9);\n  }\n}\n", "src/index.ts": "run();\n"},
        "It never ends: a setInterval runs in memory-guard.js all the time.\n",
        "src/memory-guard.ts", 3, "`Guard.start` uses `setInterval` on this line.",
    ),
    "panic below a mark": Case(
        {"src/main.rs": "fn main() {\n    let t = open().unwrap();\n\n    t.clear().unwrap();\n}\n"},
        " ! (x_x) panik: panicked at src/main.rs:4:15:\ncalled `Result::unwrap()` on an `Err` value: Custom\n",
        "src/main.rs", 4, "unwraps `t.clear()`", kind="raised_here",
    ),
    "type that a conversion expects": Case(
        {"ctl/poll.go": "package ctl\n\nfunc (c *Ctl) poll() {\n\tcur, err := c.get()\n\tif f(cur.(*api.Keeper), err) {\n\t\treturn\n\t}\n}\n"},
        "panic: interface conversion: v1.IRes is nil, not *v1.Keeper [recovered]\ngoroutine 434 [running]:\n"
        "acme.org/x/ctl.(*Ctl).poll(0x41a)\n\t/x/ctl/poll.go:146 +0x4dd\n",
        "ctl/poll.go", 5, "the error says “interface conversion: v1.IRes is nil, not *v1.Keeper”",
    ),
    "module of Swift": Case(
        {"Sources/Core/View/ForAll.swift": "func apply(list: L?) {\n  use(list!)\n}\n", "Sources/Core/Other.swift": "let a = 1\n"},
        "Core/ForAll.swift:2: Fatal error: Unexpectedly found nil while unwrapping an Optional value\n",
        "Sources/Core/View/ForAll.swift", 2, "has `list!`",
    ),
    "levels in the first of two columns": Case(
        {"srv/route.rs": "fn route() {\n    log();\n}\n", "srv/mods.rs": "fn bye() {\n    log();\n}\n"},
        "INFO   |srv::mods   | 2026-05-13 13:05:09.244 [wasm] srv/mods.rs:2: Bye from all\n"
        "ERROR  |srv::route  | 2026-05-13 13:05:09.244 [main] srv/route.rs:2: no route to take\n" * 2,
        "srv/route.rs", 2, "The report has “no route to take” for this line",
    ),
    "including file in the user's language": Case(
        {"cpp/error.cc": '#include <new>\n#include "error.h"\nint x;\n', "cpp/error.h": "#pragma once\nstatic int bad(uint32_t a);\n"},
        "包含于文件 /build/acme-src/cpp/error.cc:2:\n/build/acme-src/cpp/error.h:2:16: 错误：‘uint32_t’未声明\n",
        "cpp/error.h", 2, "未声明”",
    ),
    "error of a tool before its warning": Case(
        {"rtl/alu.sv": "module alu;\nwire a;\nendmodule\n", "rtl/file.sv": "module file;\nwire b;\nendmodule\n"},
        "%Warning-WIDTH: ../rtl/alu.sv:2:24: Operator ADD expects 32 bits\n%Error-BLKSEQ: ../rtl/file.sv:2:29: Unsupported: blocked\n",
        "rtl/file.sv", 2, "this line",
    ),
    "an include that a compiler follows": Case(
        {"src/dock.h": "struct Dock {\n  int deep() { return host_->lock_; }\n};\n", "src/dock.cpp": '#include "dock.h"\n'},
        "```\nIn file included from build/src/all.h:14,\n                 from build/src/all.cpp:4:\nbuild/src/dock.h: In function 'int deep()':\n"
        "build/src/dock.h:2:31: error: 'class Host' has no member named 'lock_'\n    2 |   int deep() { return host_->lock_; }\n      |     ^~~~~\nCompiling x.o\n"
        "In file included from build/src/all.h:14,\n                 from build/src/more.h:4,\n                 from build/src/more.cpp:1:\nbuild/src/dock.h: In function 'int deep()':\n"
        "build/src/dock.h:2:31: error: 'class Host' has no member named 'lock_'\n```",
        "src/dock.h", 2, "The report has “error: 'class Host' has no member named 'lock_'”", kind="named_here",
    ),
    "a script installed without its ending": Case(
        {"acmetool.py": 'import gi\n\ngi.require_version("Gtk", "4.0")\n', "other.py": "x = 1\n"},
        'Traceback (most recent call last):\n  File "/app/bin/acmetool", line 3, in <module>\n    gi.require_version("Gtk", "4.0")\n'
        '  File "/app/lib/python3.13/site-packages/gi/__init__.py", line 125, in require_version\n    raise ValueError(1)\n'
        "ValueError: Namespace Gtk not available\n",
        "acmetool.py", 3, "calls `require_version` on this line",
    ),
    "a box around the code": Case(
        {"lib/dock.ex": "defmodule Dock do\n  @type record ::\n          {atom, integer}\nend\n"},
        "```\n    warning: type record/0 is overriding a built-in type\n    │\n  2 │   @type record ::\n    │   ~~~~~~~~~~~~~~~\n    │\n"
        "    └─ lib/dock.ex:2: (file)\n```",
        "lib/dock.ex", 2, "The report has “warning: type record/0 is overriding a built-in type” for this line",
    ),
    "an expression that is too long": Case(
        {"dock.php": "<?php\nfunction dock() {\n    return $applicationFactoryOfTheDock->newCacheFactoryOfBerths()->newPlainWikiCache( 1 );\n}\n"},
        "```\nError: Call to undefined method Acme\\CacheFactory::newPlainWikiCache() in dock.php:3\n```",
        "dock.php", 3, "uses `newPlainWikiCache`; the error says that this does not exist.",
    ),
    "an error in the title": Case(
        {"rules/sort.js": "function create(context) {\n  const name = context.getFilename();\n  return name;\n}\n"},
        "The rule fails.\n\nMaybe it is\n\nin some\n\nolder\n\nversion.\n\nSee line 2 in `rules/sort.js`.",
        "rules/sort.js", 2, "the error says “context.getFilename is not a function”", title="`context.getFilename` is not a function",
    ),
    "the first of a stack of places": Case(
        {"index.php": "<?php\nrun();\n$dock->moor();\n", "lib/Dock.class": "<?php\nclass Dock {\n  function moor() { return error('berth'); }\n}\n"},
        "```\nError (BAD) : No such berth\n\n    in lib/Dock.class at line 3 (Api::error)\n    in index.php at line 3 (Dock::moor)\n```",
        "lib/Dock.class", 3, "The report names this line",
    ),
    "a value that a host refuses": Case(
        {
            "custom/acme/sensor.py": 'async def async_setup_entry(hass, add):\n    add([Reef()])\n\n\nclass Reef:\n'
            '    def device_info(self):\n        return {\n            "model": 1.0,\n            "name": "reef",\n        }\n',
        },
        "Detected that custom integration 'acme' passes a non-string value of type float as model to the device registry at "
        "custom/acme/sensor.py, line 2: add([Reef()]). This will stop working.",
        "custom/acme/sensor.py", 8, 'has `"model": 1.0`; the error says “passes a non-string value of type float as model”',
    ),
    "a service without its class": Case(
        {"config/services.php": "<?php\n$services\n    ->set('acme.reef.result_cache', ResultCache::class);\n", "src/a.php": "<?php\n"},
        '```\nIn Pass.php line 48:\n\n  Invalid service "acme.reef.result_cache": class "Acme\\ResultCache" does not exis\n  t.\n```',
        "config/services.php", 3, "has `'acme.reef.result_cache'`",
    ),
    "frames of Java without spaces": Case(
        {
            "src/acme/Hook.java": "package acme;\nclass Hook {\n  void bind(Host host) {\n    host.name();\n  }\n}\n",
            "src/acme/Main.java": "package acme;\nclass Main {\n  void start() {\n    new Hook().bind(host);\n  }\n}\n",
        },
        "`[12:00:00 ERROR]: [Acme] Failed to bind:java.lang.IllegalStateException: no host()at java.base/java.lang.Class.get(Unknown "
        "Source) ~[?:?]at Acme-1.4.jar//acme.Hook.bind(Hook.java:4) ~[?:?]at Acme-1.4.jar//acme.Main.start(Main.java:4) ~[?:?]`",
        "src/acme/Hook.java", 4, "passes through `Hook.bind`", absent="src/acme/Main.java",
    ),
    "a test that a runner names": Case(
        {"acme/tests/test_reef.py": "def test_depth():\n    depth = 3\n    assert float(depth) == 4\n", "acme/reef.py": "x = 1\n"},
        "We now see this:\n\n```\nacme/tests/test_reef.py:3: TypeError\nTypeError: only size-1 arrays\n```",
        "acme/tests/test_reef.py", 3, "The report names this line of `test_depth`", kind="named_here",
    ),
    "an error and the recipe of make": Case(
        {"src/reef.c": "int main(void) {\n  return deep();\n}\n", "Makefile": "all:\n\tcc -c src/reef.c\n"},
        "```\nsrc/reef.c:2:10: error: implicit declaration of function 'deep'\nmake: *** [Makefile:2: all] Error 1\n```",
        "src/reef.c", 2, "implicit declaration", absent="Makefile",
    ),
    "a file's name that an editor has linked": Case(
        {"core/dock.py": "class Dock:\n    def __init__(self):\n        self.build_steps()\n", "pyproject.toml": '[project]\nname = "acme"\n'},
        'Traceback (most recent call last): \n  File "C:\\apps\\acme\\core\\ dock.py ", line 3, in __init__ \n    self.build_steps() \nValueError: no step',
        "core/dock.py", 3, "passes through `Dock.__init__`; this line",
    ),
    "a method that Gradle does not find": Case(
        {"android/build.gradle": "android {\n}\n\nkotlin {\n    jvmToolchain(17)\n}\n"},
        "Build file '/home/me/android/build.gradle' line: 4\n\n* What went wrong:\n> Could not find method kotlin() for arguments [x] on project ':app'.",
        "android/build.gradle", 4, "uses `kotlin`; the error says that this does not exist.",
    ),
    "a number that is off by one": Case(
        {"src/Dock.php": "<?php\nclass Dock {\n  function find($boat) {\n    if ($this->boats->contains($boat)) {\n      return $this->boats[$boat];\n    }\n  }\n}\n"},
        "The line is `src/Dock.php:5`, I think.", "src/Dock.php", 4, "has `contains(…)`; the error says",
        title="Deprecated: Method SplObjectStorage::contains() is deprecated since 8.5",
    ),
    "a panic without marks": Case(
        {"src/main.rs": "fn main() {\n    std::fs::write(\n        &path,\n        text,\n    )\n    .unwrap();\n}\n"},
        "thread 'main' (42) panicked at src/main.rs:6:6:\ncalled Result::unwrap() on an Err value: Os { code: 2 }\n",
        "src/main.rs", 6, "unwraps `std::fs::write(&path,text,)`; the error says that it failed.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_report_leads_to_its_line(tmp_path: Path, name: str):
    case = CASES[name]
    facts = facts_of(tmp_path, case.files, case.title, case.body)
    found = [fact for fact in facts if (fact.path, fact.line) == (case.path, case.line) and case.says in fact.says]
    assert [fact for fact in found if case.kind in ("", fact.kind)], facts
    lead = statement(facts, list(case.files), 0.5).headline
    assert lead is not None
    assert ((lead.path, lead.line) == (case.path, case.line)) == case.leads
    assert not [fact for fact in facts if fact.path == case.absent]


def test_what_only_reports_an_error_is_no_place_of_it(tmp_path: Path):
    files = {
        "lib/report.dart": "class Tell {\n  static reportError(e) {\n    Catcher.send(e);\n  }\n}\n",
        "lib/player.dart": "class Player {\n  start() {\n    on((e) {\n      Tell.reportError(e);\n    });\n  }\n}\n",
        "pubspec.yaml": "name: acme\n",
    }
    trace = (
        "Failed to open a.glsl.\n#0 Catcher.send (package:catcher/catcher.dart:512)\n#1 Tell.reportError (package:acme/report.dart:3)\n"
        "#2 Player.start.<anonymous closure> (package:acme/player.dart:4)\n"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", trace), "raised_here")
    assert (found.path, found.unclaimed) == ("lib/player.dart", True)
    assert found.says.endswith("reports the error on this line.")


def test_what_an_error_names_and_no_file_has_is_stated(tmp_path: Path):
    files = {"a.ts": "export const limit = 1;\n"}
    body = "TypeError: Cannot read properties of undefined (reading 'windowMs')"
    (found,) = of_kind(facts_of(tmp_path, files, "[Question] It fails", body), "absent")
    assert (found.words, found.strong) == ("windowMs", True)
    assert not of_kind(facts_of(tmp_path / "b", {"a.ts": "limit.windowMs;\n"}, "It fails", body), "absent")


def test_a_method_of_every_object_is_never_missing(tmp_path: Path):
    body = 'java.lang.NullPointerException: Cannot invoke "Object.getClass()" because "<parameter1>" is null'
    assert not of_kind(facts_of(tmp_path, {"a.kt": "val limit = 1\n"}, "It fails", body), "absent")


def test_the_kind_of_an_issue_in_its_title_is_no_text_of_the_interface(tmp_path: Path):
    files = {"a.ts": 'export const marks = ["QUESTION"];\n'}
    for title in ("[Question] It fails again", "Critical: it fails again"):
        assert not of_kind(facts_of(tmp_path / title[1:4], files | {"b.ts": 'x("Critical");\n'}, title), "quoted_here")


def test_a_commit_that_identifies_a_build_is_no_named_change(tmp_path: Path):
    change = make_repository(tmp_path, {"a.py": "x = 1\n"}, message="Set x")
    head = make_repository(tmp_path, {"a.py": "x = 1\n", "n": "1"})
    for body in (f"version: 4360 ({change[:9]})", f'build=4360 commit="{change[:9]}"', f"Commit hash : {change[:9]}"):
        assert not of_kind(facts_at(tmp_path, head, "It stops", body), "named_change")
    assert of_kind(facts_at(tmp_path, head, "It stops", f"See {change[:9]}."), "named_change")


def test_a_clone_is_known_by_its_remote(tmp_path: Path):
    make_repository(tmp_path, {"src/queue.c": "int push(void) {\n  return 1;\n}\n"})
    git(tmp_path, "tag", "v2.3.0")
    git(tmp_path, "remote", "add", "origin", "https://example.org/octo/tinyq.git")
    head = make_repository(tmp_path, {"src/queue.c": "/* new */\nint push(void) {\n  return 1;\n}\n"})
    link = "https://example.org/octo/tinyq/src/tag/v2.3.0/src/queue.c#L2"
    (found,) = of_kind(facts_at(tmp_path, head, "It fails", f"I think it is {link} here"), "linked_here")
    assert found.line == 3


def test_code_that_no_version_had_is_of_a_file_outside_any_clone(tmp_path: Path):
    files = {"lib/sets.nix": "{ }:\n{\n  a = 1;\n}\n"}
    body = (
        "error:\n       … while calling the 'seq' builtin\n         at /nix/store/abc-source/lib/sets.nix:3:11:\n"
        "            2| pkgs:\n            3|   mapValues = f: set: whole set;\n             |           ^\n"
    )
    assert not facts_of(tmp_path, files, "It fails", body)


def test_names_that_no_file_has_keep_loose_words_from_being_names(tmp_path: Path):
    files = {"a.py": "class ModelCatalogSection:\n    def run(self):\n        return 1\n" * 3}
    title, body = (
        "Opening the model catalog section fails",
        "It fails in `_grid_for_tab`, `_mount_grid` and `_grid_box`.",
    )
    assert not facts_of(tmp_path, files, title, body)


def test_an_error_of_javascript_is_of_no_other_language(tmp_path: Path):
    body = "Cannot read properties of null (reading 'error')"
    for path, found in (("acme/server.py", 0), ("web/use.ts", 1)):
        facts = facts_of(tmp_path / path[:3], {path: "x.error(1)\n"}, "It fails", body)
        assert len(of_kind(facts, "raised_here")) == found


def test_a_frame_of_elixir_has_the_line_of_its_release(tmp_path: Path):
    page = "one\n<div>{since(@at)}</div>\n"
    make_repository(tmp_path, {"lib/web/page.html.heex": page, "mix.exs": "app: :acme\n"})
    git(tmp_path, "tag", "v4.0.1")
    head = make_repository(tmp_path, {"lib/web/page.html.heex": f"zero\n{page}", "mix.exs": "app: :acme\n"})
    trace = (
        "** (FunctionClauseError) no function clause matching in DateTime.diff/3\n    (elixir 1.19.5) lib/calendar/datetime.ex:1578: DateTime.diff(nil)\n"
        "    (acme 4.0.1) lib/web/page.html.heex:2: anonymous fn/2 in Web.Page.render/1\n"
    )
    (found,) = of_kind(facts_at(tmp_path, head, "It fails", trace), "raised_here")
    assert (found.line, found.says.endswith(", line 2 of 4.0.1.")) == (3, True)


def test_links_keep_their_order_and_a_quoted_title_leads_to_its_message(tmp_path: Path):
    files = {
        "src/a.c": 'int a(void) {\n  return fail("acme: the session was rejected");\n}\n',
        "src/b.c": "int b(void) {\n  return 2;\n}\n",
    }
    head = make_repository(tmp_path, files)
    base = f"https://github.com/octo/acme/blob/{head}/src"
    facts = facts_at(
        tmp_path, head, "It fails", f"It is {base}/b.c#L2 and not {base}/a.c#L2 alone.", first=["src/a.c", "src/b.c"]
    )
    assert statement(facts, ["src/a.c", "src/b.c"], 0.5).headline.path == "src/b.c"
    body = "```\nacme: the session was rejected\n```"
    (found,) = of_kind(facts_at(tmp_path, head, 'It stops: "the session was rejected"', body), "built_here")
    assert found.strong


def test_a_line_of_another_place_has_its_own_message(tmp_path: Path):
    files = {
        "src/grid.rs": "fn pane() {\n    next().unwrap();\n}\n",
        "src/route.rs": "fn route() {\n    read().unwrap();\n}\n",
    }
    body = (
        "location: At src/grid.rs:2:12\nmessage: called `Result::unwrap()` on an `Err` value: none\nCaused by: nothing\n"
        "src/route.rs:2: failed to route\n"
    )
    found = {fact.path: fact.says for fact in of_kind(facts_of(tmp_path, files, "It fails", body), "named_here")}
    assert "unwraps `next()`" in found["src/grid.rs"]
    assert "unwraps" not in found["src/route.rs"]


def test_the_frames_of_a_log_of_php_in_json_are_read(tmp_path: Path):
    files = {
        "lib/Service/Page.php": "<?php\nclass Page {\n\tfunction fix() {\n\t\treturn $this->text(1);\n\t}\n}\n",
        "lib/Controller/Import.php": "<?php\nclass Import {\n\tfunction run() {\n\t\treturn $this->page->fix();\n\t}\n}\n",
    }
    frames = ",".join(
        f'{{"file":"/var/www/apps/acme/lib/{file}.php","line":4,"function":"{called}","class":"OCA\\\\Acme\\\\Page","type":"->"}}'
        for file, called in (("Service/Page", "text"), ("Controller/Import", "fix"))
    )
    error = '"Exception":"TypeError","Message":"OCA\\\\Acme\\\\Page::text(): Argument #1 must be of type string"'
    body = (
        f'{{"level":3,"exception":{{{error},"Code":0,"Trace":[{frames}],"File":"/var/www/apps/acme/x.php","Line":9}}}}'
    )
    (found,) = of_kind(facts_of(tmp_path, files, "The import fails", body), "raised_here")
    assert (found.path, found.line) == ("lib/Service/Page.php", 4)
    assert found.says.startswith("`TypeError` passes through `Page.fix`")
    # Sentry begins with the outermost frame, and names the function around each line.
    inner, outer = ("lib/Service/Page.php", "fix"), ("lib/Controller/Import.php", "run")
    frames = ",".join(
        f'{{"filename":"/srv/acme/{file}","function":"{name}","lineno":4}}' for file, name in (outer, inner)
    )
    body = f'{{"type":"TypeError","value":"it must be a string","stacktrace":{{"frames":[{frames}]}}}}'
    (found,) = of_kind(facts_of(tmp_path / "b", files, "The import fails", body), "raised_here")
    assert (found.path, found.line) == ("lib/Service/Page.php", 4)


def test_the_line_of_a_frame_of_erlang_may_be_below_its_file(tmp_path: Path):
    files = {
        "src/job.erl": "-module(job).\n-export([read/1]).\n\nread(Path) ->\n    [A, B] = split(Path),\n    {A, B}.\n"
    }
    body = (
        '```\n** {{badmatch,[<<1>>]},\n    [{job,read,1,\n          [{file,\n               "/home/me/acme/src/job.erl"},\n'
        '           {line,5}]},\n     {gen_server,handle_msg,3,[{file,"gen_server.erl"},{line,2420}]}]}\n```'
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It restarts", body), "raised_here")
    assert (found.path, found.line, found.says[:30]) == ("src/job.erl", 5, "`badmatch` passes through `rea")


def test_the_debugger_of_emacs_names_functions(tmp_path: Path):
    files = {"acme.el": ";;; acme.el\n(defun acme-root-path ()\n  (file-name-directory (project-root)))\n"}
    body = (
        "Debugger entered--Lisp error: (wrong-type-argument stringp nil)\n  file-name-directory(nil)\n"
        '  acme-root-path()\n  (let ((a 1)) (acme-root-path))\n  acme-chat("is it open?")\n\nIt stops.\n'
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", body), "raised_here")
    assert (found.path, found.line) == ("acme.el", 3)
    assert found.says.startswith("`acme-root-path` calls `file-name-directory` on this line; `wrong-type-argument`")
    assert not of_kind(
        facts_of(tmp_path, files, "It stops", "Debugger entered--Lisp error: (quit)\nacme(1)"), "raised_here"
    )


def test_a_stressed_part_of_a_printed_line_is_that_line(tmp_path: Path):
    files = {"main/nvs.c": "#include <a.h>\n\nbool keep(int a) {\n    return erase(a, 0, SECTOR_SIZE) == 0;\n}\n"}
    body = (
        "```\nC:/me/acme/main/nvs.c:4:24: error: 'SECTOR_SIZE' undeclared (first use in this function)\n"
        "    4 |     return erase(a, 0, *SECTOR_SIZE*) == 0;\n      |                        ^~~~~~~~~~~\n```"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It does not compile", body), "named_here")
    assert (found.line, found.strong, "does not fit" in found.says) == (4, True, False)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(
            "Error: Server Error: Unknown function: 'zones'. (file: /etc/a/manifests/zone.pp, line: 2, column: 3)",
            id="in-front",
        ),
        pytest.param("Error: manifests/zone.pp (Line: 2, Col: 16): Unknown function: 'zones'. It is gone", id="behind"),
    ],
)
def test_a_line_does_not_get_the_message_of_the_next_one(tmp_path: Path, line: str):
    files = {"manifests/zone.pp": "class zone {\n  zones($rows)\n}\n"}
    body = f"```\n{line}\nWarning: Not using the cache on a failed catalog\n```"
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", body), "named_here")
    assert "has “Unknown function: 'zones'." in found.says


def test_the_mark_of_a_build_before_a_printed_line_is_no_part_of_it(tmp_path: Path):
    files = {"Dockerfile": "FROM a\nWORKDIR /b\nRUN pip install --no-cache-dir -r requirements.txt\n"}
    body = "Dockerfile:3\n----\n   2 |     WORKDIR /b\n   3 | >>> RUN pip install --no-cache-dir -r requirements.txt\n   4 |\n"
    (found,) = of_kind(facts_of(tmp_path, files, "The build stops", body), "named_here")
    assert (found.line, found.says) == (3, "The report names this line of `Dockerfile`.")


def test_the_error_of_a_build_precedes_the_calls_of_its_warnings(tmp_path: Path):
    files = {"cmake/FindReef.cmake": "find_package(Kelp)\nif(NOT KELP)\n  message(FATAL_ERROR x)\nendif()\n"}
    body = (
        "CMake Warning (dev) at /usr/share/cmake/Find.cmake:441 (message):\n  The name does not match.\n"
        "Call Stack (most recent call first):\n  cmake/FindReef.cmake:1 (find_package)\n\n"
        "CMake Error at cmake/FindReef.cmake:3 (message):\n  kelp not found\n"
    )
    found = of_kind(facts_of(tmp_path, files, "It does not configure", body), "named_here")
    assert [(fact.line, fact.strong) for fact in found] == [(3, True), (1, False)]


def test_a_line_that_is_in_a_test_now_does_not_lead(tmp_path: Path):
    files = {
        "src/input.rs": "fn paste() {\n    cut(1);\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn moves() {\n"
        "        assert_eq!(cut(1), 8);\n    }\n}\n",
        "src/view.rs": "fn view() {\n    let a = &text[..n];\n    show(a);\n}\n",
    }
    found = facts_of(tmp_path, files, "It panics", "- `src/input.rs:9` cuts a character\n- `src/view.rs:2` too\n")
    strong = {fact.path: fact.strong for fact in of_kind(found, "named_here")}
    assert strong == {"src/input.rs": False, "src/view.rs": True}


def test_a_function_that_a_bundle_imports_and_does_not_find(tmp_path: Path):
    files = {
        "index.ts": 'import { buildConfigSchema } from "host/sdk";\n\nconst a = {\n  schema: buildConfigSchema(A),\n};\n'
    }
    body = (
        "```\nTypeError: (0 , _hostSdk.buildConfigSchema) is not a function\n"
        "    at loadPlugins (file:///opt/host/dist/profiles-CxhLQjax.js:217:2)\n```"
    )
    (found,) = of_kind(facts_of(tmp_path, files, "It does not load", body), "raised_here")
    assert (found.path, found.line) == ("index.ts", 4)


def test_a_folder_may_have_the_name_of_the_project_before_its_own(tmp_path: Path):
    code = "function plugin:Stop(text)\n  if not bars then return end\n  if label == text then stop() end\nend\n"
    files = {"Plugins/Bars.lua": code, "Loader.lua": 'local name = "Acme_Plugins"\n'}
    title = "Acme_Plugins/Bars.lua:3: attempt to compare a secret value"
    body = f"```\n{title}\n[Acme_Plugins/Bars.lua]:3: in function 'Stop'\n[C]: ?\n```"
    found = facts_of(tmp_path, files, title, body)
    assert [(fact.path, fact.line) for fact in of_kind(found, "raised_here")] == [("Plugins/Bars.lua", 3)]
    assert not of_kind(found, "read_here")


def test_what_kotlin_asserts_is_the_null_value_of_the_line_that_does_it(tmp_path: Path):
    code = (
        "class Drawer {\n  private fun update() = launch {\n    val query = state.query\n    filters\n      .all()\n"
        "      .filter { it.title!!.contains(query) }\n      .map { it.name }\n  }\n}\n"
    )
    body = (
        "```\njava.lang.NullPointerException\n\tat org.acme.Drawer$update$1.invokeSuspend(Drawer.kt:683)\n"
        "\tat kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith(ContinuationImpl.kt:9)\n```"
    )
    (found,) = of_kind(facts_of(tmp_path, {"app/org/acme/Drawer.kt": code}, "It stops", body), "raised_here")
    assert (found.line, found.says) == (6, "`Drawer.update` uses `it.title`; the error says that this was `null`.")
    null = "java.lang.NullPointerException: Parameter specified as non-null is null: method Host.show, parameter at"
    said = body.replace("java.lang.NullPointerException", null)
    (found,) = of_kind(facts_of(tmp_path, {"app/org/acme/Drawer.kt": code}, "It stops", said), "raised_here")
    assert "uses" not in found.says
    other = code.replace(".all()", ".all(limit!!)")
    (found,) = of_kind(facts_of(tmp_path / "two", {"app/org/acme/Drawer.kt": other}, "It stops", body), "raised_here")
    assert "uses" not in found.says


def test_a_block_is_a_frame_of_the_function_around_it(tmp_path: Path):
    files = {
        "app/month.rb": "class Month\n  def sync?\n    month.year.empty?\n  end\nend\n",
        "app/keep.rb": "class Keep\n  def all(list)\n    list.each do |one|\n      store(one)\n    end\n  end\nend\n",
    }
    body = (
        "undefined method 'empty?' for nil\n\n## Stacktrace\n\n    app/month.rb:3 - Month#sync?\n"
        "    app/keep.rb:4 - block in Keep#all\n    app/keep.rb:3 - Array#each\n"
    )
    facts = facts_of(tmp_path, files, "NoMethodError in a job", body)
    assert [(fact.path, fact.line) for fact in of_kind(facts, "raised_here")] == [("app/month.rb", 3)]
    assert not of_kind(facts, "named_here")


def test_a_class_without_a_constructor_has_one_that_sets_its_fields(tmp_path: Path):
    code = (
        "namespace Acme {\n  class Preview {\n    private class Styles {\n      public Style Label = Make(Editor.label);\n"
        "    }\n    private Styles styles = new Styles();\n    public void Draw() {\n      Show(styles);\n    }\n  }\n}\n"
    )
    body = (
        "NullReferenceException: Object reference not set to an instance of an object\n"
        "UnityEditor.Editor.get_label () (at /Users/build/output/unity/Editor.cs:18)\n"
        "Acme.Preview+Styles..ctor () (at ./Library/PackageCache/com.acme@ad7b5486304b/Editor/Preview.cs:4)\n"
        "Acme.Preview..ctor () (at ./Library/PackageCache/com.acme@ad7b5486304b/Editor/Preview.cs:6)\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"Assets/Acme/Editor/Preview.cs": code}, "It fails", body), "raised_here")
    assert (found.line, found.symbol) == (4, "Preview.Styles")


@pytest.mark.parametrize("title", ["### Affected code", "Stack trace:"])
def test_a_list_of_places_below_a_heading_is_no_trace(tmp_path: Path, title: str):
    files = {f"plugins/reef/hooks/{name}.py": "import json\n\n\ndef main():\n    data = json.load()\n" for name in "ab"}
    body = f"It prints `Reef error: Expecting ',' delimiter`.\n\n{title}\n\n- `hooks/a.py:5`\n- `hooks/b.py:5`\n"
    facts = facts_of(tmp_path, files, "The input is read with the wrong encoding", body)
    is_trace = title == "Stack trace:"
    assert bool(of_kind(facts, "raised_here")) is is_trace
    if not is_trace:
        named = [(fact.path, fact.line, fact.says) for fact in of_kind(facts, "named_here")]
        assert sorted(named) == [(path, 5, "The report names this line of `main`.") for path in sorted(files)]


@pytest.mark.parametrize(
    ("title", "above", "says"),
    [
        pytest.param(
            "Build error: Sending 'leaf' is unsafe", "Sending 'leaf' is unsafe", "has “Sending 'leaf' is", id="it"
        ),
        pytest.param("Build error", "Sending 'leaf' is unsafe", "The report names this line", id="not-of-the-title"),
    ],
)
def test_the_message_of_the_title_above_a_place_of_its_own_line(tmp_path: Path, title: str, above: str, says: str):
    files = {"src/Kelp.swift": "func cut() {\n    grow()\n}\n"}
    body = f"The build fails:\n\n{above}\n(in Kelp.swift, line 2)\n"
    (found,) = of_kind(facts_of(tmp_path, files, title, body), "named_here")
    assert (found.line, says in found.says) == (2, True), found.says


def test_a_panic_at_a_number_that_a_test_has_now_is_not_of_the_test(tmp_path: Path):
    code = "pub fn cut(n: usize) -> usize {\n    n\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn cuts() {\n        assert_eq!(super::cut(1), 1);\n    }\n}\n"
    trace = "thread '{}' panicked at src/lib.rs:9:9:\nassertion failed: it is too deep"
    for name, count in (("main", 0), ("tests::cuts", 1)):
        facts = facts_of(tmp_path / name[:4], {"src/lib.rs": code}, "It panics", trace.format(name))
        assert len(of_kind(facts, "raised_here")) == count


def test_a_line_of_a_log_that_informs_is_no_place_of_a_crash(tmp_path: Path):
    code = "int main(void) {\n  run();\n  LOG_INFO(1);\n  return 0;\n}\n"
    log = "```\n[{}] src/reef.c:{} - it took 405 ms\n/build/lib.c:9: LIB_ASSERT(a) failed\n```"
    for level, strong in (("INFO ", []), ("ERROR", [True])):
        facts = facts_of(tmp_path / level.strip(), {"src/reef.c": code}, "It stops", log.format(level, 2))
        assert [fact.strong for fact in of_kind(facts, "named_here")] == strong
    calm = log.format("INFO ", 2).replace("/build/lib.c:9: LIB_ASSERT(a) failed\n", "")
    assert [
        fact.strong
        for fact in of_kind(facts_of(tmp_path / "calm", {"src/reef.c": code}, "It stops", calm), "named_here")
    ] == [False]
    (fact,) = of_kind(
        facts_of(tmp_path / "log", {"src/reef.c": code}, "It stops", log.format("ERROR", 3)), "named_here"
    )
    assert fact.unclaimed


def test_a_line_that_logs_may_be_what_a_compiler_refuses(tmp_path: Path):
    code = "int main(void) {\n  ESP_LOGD(1),\n  return 0;\n}\n"
    log = "```\nsrc/reef.c:2:15: error: expected primary-expression\n```"
    (fact,) = of_kind(facts_of(tmp_path, {"src/reef.c": code}, "It does not build", log), "named_here")
    assert not fact.unclaimed
