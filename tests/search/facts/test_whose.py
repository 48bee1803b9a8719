"""A frame of a library, a runtime or a submodule is never a file of the project with the same name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.facts.finding import facts_of, of_kind

if TYPE_CHECKING:
    from pathlib import Path

PY = "def fold(row, width):\n    head = row[:width]\n    return head\n"
JS = "export function fold(row, width) {\n  const head = row.slice(0, width)\n  return head\n}\n"
GO = "package core\n\nfunc Fold(row []int, width int) []int {\n\treturn row[:width]\n}\n"
RS = "pub fn fold(row: &[u8], width: usize) -> u8 {\n    *row.get(width).unwrap()\n}\n"
RB = "class Core\n  def fold(row, width)\n    head = row.take(width)\n    head\n  end\nend\n"
PHP = "<?php\nclass Core {\n  public function fold($row) {\n    return count($row);\n  }\n}\n"
EX = "defmodule Acme.Core do\n  def fold(row) do\n    hd(row)\n  end\nend\n"


def java(package: str, name: str = "Core") -> str:
    return f"package {package};\n\nclass {name} {{\n  int fold(int[] row) {{\n    return row[3];\n  }}\n}}\n"


def cs(name: str = "Core") -> str:
    body = "  {\n    int Fold(int[] row)\n    {\n      return row[3];\n    }\n  }\n"
    return f"namespace Acme\n{{\n  class {name}\n{body}}}\n"


def python_trace(path: str) -> str:
    return f'Traceback (most recent call last):\n  File "{path}", line 2, in fold\n    top = raw[1]\nTypeError: bad\n'


def own_python(path: str) -> str:
    return python_trace(path).replace("top = raw[1]", "head = row[:width]")


def js_trace(path: str) -> str:
    return f"TypeError: row.slice is not a function\n    at fold ({path}:2:20)\n    at main (/x/run.js:1:1)\n"


def java_trace(frame: str) -> str:
    error = 'Exception in thread "main" java.lang.IllegalStateException: bad'
    return f"{error}\n\tat {frame}\n\tat com.other.Main.main(Main.java:9)\n"


def go_trace(path: str, package: str = "core") -> str:
    frames = f"{package}.Fold(...)\n\t{path}:4 +0x1d\nmain.main()\n\t/x/other.go:8 +0x1d\n"
    return f"panic: bad\n\ngoroutine 1 [running]:\n{frames}"


def rust_trace(path: str, name: str = "acme::fold") -> str:
    return f"thread 'main' panicked at {path}:2:7:\nbad\nstack backtrace:\n   0: {name}\n             at {path}:2:7\n"


def ruby_trace(path: str) -> str:
    return f"{path}:3:in `fold': bad (ArgumentError)\n\tfrom bin/run:4:in `<main>'\n"


def php_trace(path: str) -> str:
    frames = "#0 /x/run.php(3): Core->fold()\n#1 {main}\n"
    error = f"PHP Fatal error:  Uncaught Exception: bad in {path}:4"
    return f"{error}\nStack trace:\n{frames}  thrown in {path} on line 4\n"


def cs_trace(frame: str) -> str:
    return f"System.InvalidOperationException: bad\n   at {frame}\n   at Other.Program.Main()\n"


KOTLIN = "package org.acme.ui\n\nclass Core {\n  fun fold(row: IntArray): Int {\n    return row[3]\n  }\n}\n"
MODULES = '[submodule "fold"]\n\tpath = lib/foldlib\n\turl = https://example.org/foldlib\n'
FOREIGN = [
    pytest.param(
        {"shop/models.py": PY}, python_trace("/usr/lib/python3.12/site-packages/requests/models.py"), id="pip"
    ),
    pytest.param({"shop/decoder.py": PY}, python_trace("/usr/lib/python3.12/json/decoder.py"), id="python-stdlib"),
    pytest.param({"shop/decoder.py": PY}, python_trace("C:\\Python312\\Lib\\json\\decoder.py"), id="python-windows"),
    pytest.param(
        {"shop/models.py": PY}, python_trace("/opt/venv/lib/python3.9/dist-packages/x/models.py"), id="debian"
    ),
    pytest.param({"shop/models.py": PY}, python_trace("/home/u/mine/models.py"), id="the-reporter's-program"),
    pytest.param(
        {"src/fold.js": JS, "package.json": '{"name": "acme"}'},
        js_trace("/srv/node_modules/left/src/fold.js"),
        id="npm",
    ),
    pytest.param(
        {"packages/core/src/fold.ts": JS, "packages/core/package.json": '{"name": "@acme/core"}'},
        js_trace("/srv/node_modules/@other/core/src/fold.ts"),
        id="npm-other-scope",
    ),
    pytest.param({"lib/fold.js": JS}, js_trace("/srv/.yarn/cache/left/lib/fold.js"), id="yarn"),
    pytest.param({"lib/loader.js": JS}, js_trace("node:internal/modules/lib/loader.js"), id="node"),
    pytest.param(
        {"pkg/fold.go": GO, "go.mod": "module github.com/acme/tool\n"},
        go_trace("/root/go/pkg/mod/github.com/left/lib@v1.2.3/pkg/fold.go"),
        id="go-module",
    ),
    pytest.param(
        {"net/http/fold.go": GO, "go.mod": "module github.com/acme/tool\n"},
        go_trace("/usr/local/go/src/net/http/fold.go"),
        id="go-stdlib",
    ),
    pytest.param(
        {"http/fold.go": GO}, go_trace("/opt/hostedtoolcache/go/1.21.5/x64/src/net/http/fold.go"), id="go-in-ci"
    ),
    pytest.param({"core/fold.go": GO}, go_trace("/app/vendor/github.com/left/core/fold.go"), id="go-vendor"),
    pytest.param(
        {"src/fold.rs": RS, "Cargo.toml": '[package]\nname = "acme"\n'},
        rust_trace("/root/.cargo/registry/src/index.crates.io-6f17/left-1.2.0/src/fold.rs"),
        id="cargo",
    ),
    pytest.param(
        {"src/vec/fold.rs": RS}, rust_trace("/rustc/0a1b2c3d4e5f/library/alloc/src/vec/fold.rs"), id="rust-stdlib"
    ),
    pytest.param(
        {"src/fold.rs": RS}, rust_trace("/root/.cargo/git/checkouts/left-12ab/34cd/src/fold.rs"), id="cargo-git"
    ),
    pytest.param({"lib/core.rb": RB}, ruby_trace("/usr/lib/ruby/gems/3.0.0/gems/left-2.2.3/lib/core.rb"), id="gem"),
    pytest.param({"lib/core.rb": RB}, ruby_trace("/usr/lib/ruby/3.0.0/lib/core.rb"), id="ruby-stdlib"),
    pytest.param({"src/Core.php": PHP}, php_trace("/srv/vendor/left/lib/src/Core.php"), id="composer"),
    pytest.param(
        {"src/main/java/org/acme/Core.java": java("org.acme")},
        java_trace("com.left.lib.Core.fold(Core.java:5)"),
        id="jvm-other-package",
    ),
    pytest.param(
        {"src/main/java/org/acme/util/Core.java": java("org.acme.util")},
        java_trace("com.left.util.Core.fold(Core.java:5)"),
        id="jvm-same-last-folder",
    ),
    pytest.param(
        {"src/main/java/org/acme/ArrayList.java": java("org.acme", "ArrayList")},
        java_trace("java.base/java.util.ArrayList.fold(ArrayList.java:5)"),
        id="jdk",
    ),
    pytest.param({"Core.java": java("org.acme")}, java_trace("com.left.Core.fold(Core.java:5)"), id="jvm-flat"),
    pytest.param(
        {"Acme/Core.cs": cs()},
        cs_trace("Left.Json.Core.Fold(Int32[] row) in /_/Src/Left.Json/Core.cs:line 7"),
        id="nuget",
    ),
    pytest.param(
        {"lib/acme/core.ex": EX},
        "** (ArgumentError) bad\n    (left 1.2.3) lib/left/core.ex:3: Acme.Core.fold/1\n",
        id="hex",
    ),
    pytest.param(
        {"src/core.py": PY, ".gitmodules": MODULES}, python_trace("/build/lib/foldlib/src/core.py"), id="submodule"
    ),
    pytest.param({"core/fold.js": JS}, js_trace("/app/bower_components/left/core/fold.js"), id="bower"),
]
OWN = [
    pytest.param(
        {"backend/core.py": PY, **{f"web/src/c{n}.ts": JS for n in range(9)}},
        own_python("/srv/backend/core.py"),
        "backend/core.py",
        id="small-server",
    ),
    pytest.param(
        {"ios/Core.java": java("org.acme"), **{f"src/c{n}.ts": JS for n in range(9)}},
        java_trace("org.acme.Core.fold(Core.java:5)"),
        "ios/Core.java",
        id="native-code-beside-scripts",
    ),
    pytest.param(
        {"web/src/fold.js": JS, **{f"app/m{n}.py": PY for n in range(9)}},
        js_trace("/srv/web/src/fold.js"),
        "web/src/fold.js",
        id="small-client",
    ),
    pytest.param(
        {"flaskr/app.py": PY},
        own_python("/venv/lib/python3.12/site-packages/flaskr/app.py"),
        "flaskr/app.py",
        id="installed-python-package",
    ),
    pytest.param(
        {"packages/core/src/fold.ts": JS, "packages/core/package.json": '{"name": "@acme/core"}'},
        js_trace("/srv/node_modules/@acme/core/src/fold.ts"),
        "packages/core/src/fold.ts",
        id="installed-workspace",
    ),
    pytest.param(
        {"pkg/fold.go": GO, "go.mod": "module github.com/acme/tool\n"},
        go_trace("/root/go/pkg/mod/github.com/acme/tool@v1.2.3/pkg/fold.go"),
        "pkg/fold.go",
        id="installed-go-module",
    ),
    pytest.param(
        {"core/fold.go": GO}, go_trace("/home/u/go/src/example.org/acme/core/fold.go"), "core/fold.go", id="gopath"
    ),
    pytest.param(
        {"src/fold.rs": RS, "Cargo.toml": '[package]\nname = "acme"\n'},
        rust_trace("/root/.cargo/registry/src/index.crates.io-6f17/acme-1.2.0/src/fold.rs"),
        "src/fold.rs",
        id="installed-crate",
    ),
    pytest.param(
        {"lib/core.rb": RB, "acme.gemspec": "Gem::Specification.new\n"},
        ruby_trace("/usr/lib/ruby/gems/3.0.0/gems/acme-2.2.3/lib/core.rb"),
        "lib/core.rb",
        id="installed-gem",
    ),
    pytest.param(
        {"src/Core.php": PHP, "composer.json": '{"name": "acme/core"}'},
        php_trace("/srv/vendor/acme/core/src/Core.php"),
        "src/Core.php",
        id="installed-composer-package",
    ),
    pytest.param(
        {
            "a/src/main/java/org/acme/a/Core.java": java("org.acme.a"),
            "b/src/main/java/org/acme/b/Core.java": java("org.acme.b"),
        },
        java_trace("org.acme.b.Core.fold(Core.java:5)"),
        "b/src/main/java/org/acme/b/Core.java",
        id="jvm-by-package",
    ),
    pytest.param(
        {"app/src/main/kotlin/ui/Core.kt": KOTLIN},
        java_trace("org.acme.ui.Core$Companion.fold(Core.kt:5)"),
        "app/src/main/kotlin/ui/Core.kt",
        id="kotlin-short-folders",
    ),
    pytest.param(
        {"src/Acme/Core.cs": cs()},
        cs_trace("Acme.Core.Fold(Int32[] row) in /_/src/Acme/Core.cs:line 7"),
        "src/Acme/Core.cs",
        id="deterministic-build",
    ),
    pytest.param(
        {"tools/chain.bzl": PY, "MODULE.bazel": 'module(\n    name = "rules_acme",\n)\n'},
        own_python("/home/a/.cache/bazel/_bazel_a/1f/external/rules_acme+/tools/chain.bzl"),
        "tools/chain.bzl",
        id="bazel-module",
    ),
]


def test_an_installed_module_of_perl_is_own(tmp_path: Path) -> None:
    files = {"lib/Acme/Mail.pm": "package Acme::Mail;\nsub subject {\n    return $mail->header();\n}\n"}
    trace = 'Can\'t call method "header" on an undefined value at {}/Acme/Mail.pm line 3.\n'
    for folder in ("/usr/local/share/perl5", "/usr/share/perl/5.36.0", "/opt/lib/perl5/site_perl/5.40.1"):
        facts = facts_of(tmp_path / folder.replace("/", "_"), files, "It stops", trace.format(folder))
        assert [(fact.path, fact.line) for fact in of_kind(facts, "named_here")] == [("lib/Acme/Mail.pm", 3)]


@pytest.mark.parametrize(("files", "trace"), FOREIGN)
def test_code_of_others(tmp_path: Path, files: dict[str, str], trace: str) -> None:
    facts = facts_of(tmp_path, files, "It stops", f"It stops:\n\n```\n{trace}```\n")
    assert of_kind(facts, "raised_here") == []


@pytest.mark.parametrize(("files", "trace", "path"), OWN)
def test_own_code(tmp_path: Path, files: dict[str, str], trace: str, path: str) -> None:
    facts = facts_of(tmp_path, files, "It stops", f"It stops:\n\n```\n{trace}```\n")
    assert [fact.path for fact in of_kind(facts, "raised_here")] == [path]


def test_files_below_one_folder_are_of_one_clone(tmp_path: Path) -> None:
    files = {"tasks/install.yml": "- name: Install\n  apt: x\n", "defaults/main.yml": "a: 1\nb: 2\n"}
    body = "Value of type 'str' at '/home/me/roles/web/defaults/main.yml:2:4'.\nOrigin: /home/me/roles/{}:1:3\n"
    for number, origin in enumerate(("web/tasks/install.yml", "web/tasks/other.yml", "db/tasks/install.yml")):
        facts = facts_of(tmp_path / str(number), files, "It stops", body.format(origin))
        assert any(fact.path == "defaults/main.yml" for fact in facts) is (number == 0)


def test_an_address_of_typst_says_whose_package_it_is(tmp_path: Path) -> None:
    files = {"src/draw.typ": "#let a = 1\n#let fold = 2\n", "typst.toml": '[package]\nname = "acme"\n'}
    for name, is_own in (("acme", True), ("other", False)):
        body = f"error: assertion failed\n  ┌─ @preview/{name}:0.3.4/src/draw.typ:2:4\n"
        facts = facts_of(tmp_path / str(is_own), files, "It stops", body)
        assert [fact.words for fact in facts] == [f"@preview/{name}:0.3.4/src/draw.typ:2:4"] * is_own


PLUGIN = "<?php\n/**\n * Plugin Name: Zone Series\n * Text Domain: organize-zones\n */\n"
ADMIN = "<?php\nfunction admin_menu() {\n  return zones( 4 );\n}\n"


@pytest.mark.parametrize(
    ("folder", "is_own"),
    [
        ("organize-zones", True),
        ("zoneSeries-main", True),
        ("organize-zones-1.4.2", True),
        ("organize-zones-pro", False),
    ],
)
def test_the_folder_of_a_wordpress_plugin_says_whether_it_is_own(tmp_path: Path, folder: str, is_own: bool) -> None:
    warning = "PHP Warning:  Undefined variable $x in /var/www/wp-content/plugins/{}/inc/admin.php on line 3"
    files = {"zoneSeries.php": PLUGIN, "inc/admin.php": ADMIN}
    found = facts_of(tmp_path, files, "The menu is empty", warning.format(folder))
    assert ("inc/admin.php" in {fact.path for fact in found}) is is_own
