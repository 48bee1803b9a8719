"""Traces that the runtimes of this machine print: one trace each, with its error and its frames."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.types import StackTrace
from tests.search.stacktraces.programs import JAVA, NODE, PYTHON, RUST, SCRIPTS, C, Crash


def pythons() -> dict[str, str]:
    """Return an interpreter of each version that is installed, by ``major.minor``."""
    found: dict[str, str] = {}
    for binary in sorted(Path.home().glob(".pyenv/versions/*/bin/python")):
        found.setdefault(".".join(binary.parts[-3].split(".")[:2]), str(binary))
    for version in ["2.7", *(f"3.{minor}" for minor in range(6, 15))]:
        path = shutil.which(f"python{version}")
        # A shim only starts a version that its manager has selected.
        if path and "shims" not in path:
            found.setdefault(version, path)
    return {f"{sys.version_info.major}.{sys.version_info.minor}": sys.executable, **found}


PYTHONS = pythons()


def program(name: str, version: str = "--version") -> str:
    """Return the path of a program; skip the test if the machine does not have it."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    # An installer's placeholder has the name of the program and runs nothing without the account's own set-up.
    if subprocess.run([path, version], capture_output=True, check=False).returncode:
        pytest.skip(f"{name} is installed and does not run")
    return path


def output(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a program in a folder and return everything that it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "LC_ALL": "C.UTF-8", **environment},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    return f"{done.stdout}\n{done.stderr}"


def check(printed: str, crash: Crash, own: str) -> None:
    """Check that output contains the traces of a crash; ``own`` is in the paths of the program's files."""
    traces = find_traces(f"It stops with this:\n\n```\n{printed}\n```\n")
    assert len(traces) == crash.traces, printed
    trace = traces[-1]
    assert (trace.error or "").rpartition(".")[2] == crash.error.rpartition(".")[2], printed
    frames = [frame for frame in trace.frames if own in frame.path or not frame.path]
    for frame, (line, function) in zip(frames, crash.frames, strict=False):
        assert line is None or frame.line == line, (printed, trace)
        assert function is None or frame.function == function, (printed, trace)
    assert len(frames) >= len(crash.frames), (printed, trace)


def by_version() -> list[tuple[str, str]]:
    """Return every pair of an interpreter and a program that it runs."""
    return [
        (version, name)
        for version in PYTHONS
        for name, crash in PYTHON.items()
        if tuple(map(int, version.split("."))) >= crash.oldest
    ]


@pytest.mark.parametrize(("version", "name"), by_version())
def test_python_prints_it(version: str, name: str, tmp_path: Path):
    (tmp_path / "crash.py").write_text(PYTHON[name].source)
    # A frame of the text that is executed has no file of its own.
    own = "<string>" if name == "exec" else "crash.py"
    # Without the module `site` it starts in half of the time.
    check(output(PYTHONS[version], "-S", "-E", "crash.py", cwd=tmp_path), PYTHON[name], own)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("version", PYTHONS)
def test_python_prints_a_module(version: str, colour: bool, tmp_path: Path):
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "tool.py").write_text(PYTHON["slice"].source)
    more = {"FORCE_COLOR": "1", "PYTHON_COLORS": "1"} if colour else {}
    check(output(PYTHONS[version], "-m", "pkg.tool", cwd=tmp_path, **more), PYTHON["slice"], "tool.py")


@pytest.mark.parametrize("ending", ["js", "mjs"])
@pytest.mark.parametrize("name", NODE)
def test_node_prints_it(name: str, ending: str, tmp_path: Path):
    node = program("node")
    (tmp_path / f"crash.{ending}").write_text(NODE[name].source)
    check(output(node, f"crash.{ending}", cwd=tmp_path), NODE[name], "crash.")


@pytest.mark.parametrize(("runtime", "name"), SCRIPTS)
def test_a_script_prints_it(runtime: str, name: str, tmp_path: Path):
    binary, file = (
        program(runtime, "-v"),
        f"crash.{ {'ruby': 'rb', 'perl': 'pl', 'lua5.4': 'lua'}.get(runtime, runtime) }",
    )
    (tmp_path / file).write_text(SCRIPTS[runtime, name].source)
    check(output(binary, file, cwd=tmp_path), SCRIPTS[runtime, name], "crash.")


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every Java program in a package of its name, compiled by one start of the compiler."""
    compiler = program("javac")
    folder = tmp_path_factory.mktemp("java")
    for name, crash in JAVA.items():
        (folder / name).mkdir()
        (folder / name / "Main.java").write_text(f"package {name}; {crash.source}")
    output(compiler, "-g", *sorted(folder.glob("*/Main.java")), cwd=folder)
    return folder


@pytest.mark.parametrize("name", JAVA)
def test_java_prints_it(name: str, classes: Path):
    # Without its just-in-time compiler it starts faster.
    check(output(program("java"), "-Xint", "-XX:+UseSerialGC", f"{name}.Main", cwd=classes), JAVA[name], "Main.java")


@pytest.fixture(scope="module")
def rust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every Rust program, compiled."""
    compiler = program("rustc")
    folder = tmp_path_factory.mktemp("rust")
    for name, crash in RUST.items():
        (folder / f"{name}.rs").write_text(crash.source)
        output(compiler, "-g", f"{name}.rs", "-o", f"{name}.out", cwd=folder, HOME=str(Path.home()))
    return folder


@pytest.mark.parametrize("backtrace", ["0", "1", "full"])
@pytest.mark.parametrize("name", RUST)
def test_rust_prints_it(name: str, backtrace: str, rust: Path):
    check(output(f"./{name}.out", cwd=rust, RUST_BACKTRACE=backtrace), RUST[name], f"{name}.rs")


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every C program, plain and with sanitizers."""
    compiler = program("gcc")
    folder = tmp_path_factory.mktemp("native")
    for name, crash in C.items():
        (folder / f"{name}.c").write_text(crash.source)
        output(compiler, "-g", "-O0", f"{name}.c", "-o", f"{name}.out", cwd=folder)
        output(compiler, "-g", "-O0", "-fsanitize=address", f"{name}.c", "-o", f"{name}.asan", cwd=folder)
        output(compiler, "-g", "-O0", "-fsanitize=undefined", f"{name}.c", "-o", f"{name}.ubsan", cwd=folder)
    return folder


@pytest.mark.parametrize("command", ["bt", "bt full"])
@pytest.mark.parametrize("name", C)
def test_gdb_prints_it(name: str, command: str, native: Path):
    printed = output(program("gdb"), "-q", "-batch", "-ex", "run", "-ex", command, f"./{name}.out", cwd=native)
    if re.search(r"ptrace|not permitted", printed):
        pytest.skip("gdb may not trace a process here")
    check(printed, C[name], f"{name}.c")


@pytest.mark.parametrize("name", C)
def test_a_sanitizer_prints_it(name: str, native: Path):
    printed = output(f"./{name}.asan", cwd=native)
    error = {"SIGFPE": "FPE", "SIGSEGV": "SEGV"}[C[name].error]
    check(printed, C[name]._replace(error=error), f"{name}.c")


def test_the_sanitizer_of_undefined_behaviour_prints_it(native: Path):
    (trace,) = runtime_errors(output("./division.ubsan", cwd=native))
    assert (trace.frames[0].path, trace.frames[0].line) == ("division.c", 2)


def runtime_errors(printed: str) -> list[StackTrace]:
    return [trace for trace in find_traces(printed) if trace.error == "runtime error"]


def test_valgrind_prints_it(native: Path):
    printed = output(program("valgrind"), "./null.out", cwd=native)
    traces = [trace for trace in find_traces(printed) if trace.frames]
    assert {(frame.path, frame.line, frame.function) for trace in traces for frame in trace.frames} >= {
        ("null.c", 2, "fold"),
        ("null.c", 5, "main"),
    }
