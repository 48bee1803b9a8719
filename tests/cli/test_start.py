"""What a command does not need is not loaded: imports are half of the time of a ranking in an indexed repository."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import ROOT, command, environment
from tests.support.repositories import make_repository

SCRIPT = """
import sys
from bot.cli.group import cli

try:
    cli(["locate", "--repo", sys.argv[1], "--text", "KeyError in load()", *sys.argv[2:]])
finally:
    print(*sys.modules, file=sys.stderr)
"""
UNUSED = {"pydantic", "yaml", "asyncio", "numpy.ma", "tree_sitter"}
RANKING_ALONE = UNUSED | {"nodes.search.facts", "nodes.search.history"}
WITH_CONFIDENCE = UNUSED | {"nodes.search.facts.kinds", "nodes.search.history.log"}
"""The confidence needs the facts about the code, but no others and no history."""


@pytest.mark.parametrize(
    ("options", "unused"),
    [pytest.param([], RANKING_ALONE, id="text"), pytest.param(["--json"], WITH_CONFIDENCE, id="json")],
)
def test_a_ranking_loads_no_settings_facts_or_history(tmp_path: Path, options: list[str], unused: set[str]) -> None:
    make_repository(tmp_path / "app", {"app.py": "def load(key):\n    return {}[key]\n"})
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "app"), *options],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TRIAGE_DATA_DIR": str(tmp_path / "data")},
        cwd=tmp_path,
    )
    assert "app.py" in done.stdout
    assert not unused & set(done.stderr.split())


@pytest.mark.parametrize(("arguments", "raised"), [(["--version"], True), (["serve", "--help"], False)])
def test_what_imports_create_is_searched_for_garbage_only_in_a_process_that_stays(
    arguments: list[str], raised: bool
) -> None:
    script = "import gc\nfrom bot.__main__ import main\ntry:\n    main()\nfinally:\n    print(gc.get_threshold()[0])"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    assert (int(done.stdout.split()[-1]) > 100_000) == raised


def test_a_run_imports_no_clients_of_servers(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"app.py": "def load(key):\n    return {}[key]\n"})
    script = (
        "import sys, bot.__main__ as one\ntry:\n    one.main()\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
        "    import langsmith.schemas\n    assert not langsmith.schemas.Prompt.__pydantic_complete__"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "--repo", str(tmp_path / "app"), "--text", "KeyError in load()"],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TRIAGE_DATA_DIR": str(tmp_path / "data"), "TRIAGE_BRAIN": "rules"},
        cwd=tmp_path,
    )
    assert "app.py" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded >= {"langgraph_sdk.auth.types", "langsmith.types.run_select_field"}
    unused = {
        "langgraph_sdk.client",
        "websockets",
        "langsmith.types.run",
        "numpy.ma",
        "httpx._client",
        "psutil._common",
    }
    assert not unused & loaded


@pytest.mark.parametrize(
    ("use", "module"),
    [
        pytest.param("langgraph_sdk.get_client", "langgraph_sdk.client", id="a-name"),
        pytest.param("__import__('langsmith.types', fromlist=['Run']).Run", "langsmith.types.run", id="from-it"),
        pytest.param("hasattr(langgraph_sdk, 'nothing')", "langgraph_sdk.client", id="a-name-that-it-lacks"),
    ],
)
def test_a_package_is_imported_as_a_whole_when_a_name_of_it_is_used(use: str, module: str) -> None:
    script = (
        "import sys\nfrom bot.packages import LatePackages\nsys.meta_path.insert(0, LatePackages)\n"
        "import langgraph_sdk.auth.types, langsmith.types.run_select_field\n"
        f"before = {module!r} in sys.modules\nfound = {use}\n"
        f"print(before, found is not None, {module!r} in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


ENDS = "import atexit, bot.__main__ as one\n{}\none.main()"
FAILS = "def fails(**_):\n    raise RuntimeError('a fault')\none.cli = fails"
PRINTS = (
    "def prints(**_):\n    atexit.register(print, 'at exit')\n    print('x' * 1_000_000)\n    raise SystemExit(3)\n"
    "one.cli = prints"
)


@pytest.mark.parametrize(
    ("script", "arguments", "status", "printed"),
    [
        pytest.param("", ["--version"], 0, "triage, version", id="done"),
        pytest.param("", ["locate", "--repo", "nowhere", "--text", "x"], 2, "", id="bad-input"),
        pytest.param("", ["serve", "--nothing"], 2, "", id="a-process-that-stays"),
        pytest.param(FAILS, [], 1, "", id="a-fault"),
        pytest.param(PRINTS, [], 3, "x" * 1_000_000 + "\nat exit\n", id="much-output"),
    ],
)
def test_a_process_ends_with_its_status_output_and_what_is_to_be_done(
    tmp_path: Path, script: str, arguments: list[str], status: int, printed: str
) -> None:
    code = [sys.executable, "-c", ENDS.format(script), *arguments]
    done = subprocess.run(code, capture_output=True, text=True, check=False, cwd=ROOT, env={"HOME": str(tmp_path)})
    assert (done.returncode, printed in done.stdout) == (status, True), done.stderr
    assert ("RuntimeError: a fault" in done.stderr) == (script == FAILS)


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_command_works_with_streams_that_its_caller_closed(tmp_path: Path, closed: str) -> None:
    script = f"{shlex.join(command('classify', '-'))} {closed}"
    done = subprocess.run(
        ["sh", "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        cwd=tmp_path,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
