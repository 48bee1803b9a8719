"""Checks of the images that need no build, which takes minutes."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

from tests.cli.process import ROOT
from tests.deploy.image import ImageApp
from tests.servers.github_server import serve_github


def test_the_image_is_given_no_path_of_this_machine(tmp_path: Path) -> None:
    with serve_github() as github:
        app = ImageApp(github, tmp_path / "data", {"TRIAGE_DATA_DIR": "/data"}, within=["run"])
        words = app.command()
    assert "TRIAGE_DATA_DIR=/data" in words
    assert str(tmp_path) not in " ".join(words)


ARM = re.compile(r"none-any\.whl$|-(?:cp312-cp312|cp3\d+-abi3|py3-none)-manylinux\w*aarch64")


def test_every_package_has_a_file_for_arm_because_the_image_has_no_compiler() -> None:
    lock = tomllib.loads((ROOT / "uv.lock").read_text())
    wheels = {package["name"]: [wheel["url"] for wheel in package.get("wheels", ())] for package in lock["package"]}
    extras = [word for extra in ("postgres", "tools", "otel") for word in ("--extra", extra)]
    export = [
        str(ROOT / ".tools/bin/uv"),
        "export",
        "--quiet",
        "--frozen",
        "--no-dev",
        "--no-emit-project",
        "--no-hashes",
    ]
    done = subprocess.run([*export, *extras], cwd=ROOT, capture_output=True, text=True, check=True)
    needed = re.findall(r"^([\w-]+)==[^;\n]*(?:;(?!.*== 'win32').*)?$", done.stdout, re.MULTILINE)
    assert len(needed) > 90
    assert [name for name in needed if not any(ARM.search(url) for url in wheels[name])] == []
