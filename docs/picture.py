"""Draw the sample report for the README: the terminal's rendering as an SVG without foreign fonts."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from demo.make_repository import make
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from bot.report.terminal import render_terminal
from nodes.report import TriageReport

DOCS = Path(__file__).parent
WIDTH = 108


def draw() -> str:
    """Triage the sample issue and draw the terminal output."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(render_terminal(_report(), width=WIDTH, colour=True)))
    fontless = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(title="triage run", code_format=fontless)


def _report() -> TriageReport:
    with tempfile.TemporaryDirectory() as scratch:
        demo = Path(scratch) / "demo"
        make(demo)
        command = [sys.executable, "-m", "bot", "run", "--repo", str(demo), "--issue", str(DOCS / "demo" / "issue.md")]
        done = subprocess.run(
            [*command, "--brain", "rules", "--format", "json"],
            # A fixed environment gives the same picture on every machine.
            env={"TRIAGE_DATA_DIR": scratch, "PATH": os.environ["PATH"], "PYTHONPATH": str(DOCS.parent)},
            cwd=scratch,
            capture_output=True,
            check=True,
        )
    return TriageReport.model_validate(json.loads(done.stdout)["report"])
