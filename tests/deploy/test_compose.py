"""The compose files conform to the specification and contain what several workers need."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

from bot.cli.group import cli
from tests.support.patience import patience

ROOT = Path(__file__).parents[2]
FILES = ("compose.yaml", "compose.postgres.yaml")


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / name).read_text())
    return found


def test_compose_files_match_the_specification() -> None:
    checked = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", *FILES]
    done = subprocess.run(checked, check=False, cwd=ROOT, capture_output=True, text=True, timeout=patience(60))
    assert done.returncode == 0, done.stdout + done.stderr


def test_workers_start_after_the_migration_and_every_service_has_a_health_check() -> None:
    services = read("compose.postgres.yaml")["services"]
    assert services["worker"]["deploy"]["replicas"] == 2
    for name in ("server", "worker"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
    assert all(service.get("healthcheck") for service in services.values())
    assert {name for name, service in services.items() if service["restart"] != "unless-stopped"} == {"migrate"}


def test_what_they_start_is_a_command_and_gets_no_rights() -> None:
    for service in (service for name in FILES for service in read(name)["services"].values()):
        if not service.get("build"):
            continue
        assert (service["cap_drop"], service["read_only"], service["init"]) == (["ALL"], True, True)
        command = service.get("command", ["serve"])
        assert CliRunner().invoke(cli, [*command, "--help"]).exit_code == 0


def test_services_have_limits_of_memory_and_processes() -> None:
    for name, service in ((name, one) for file in FILES for name, one in read(file)["services"].items()):
        assert service["mem_limit"].endswith("g"), name
        assert 0 < service["pids_limit"] <= 512, name
        assert all("size=" in mount for mount in service.get("tmpfs", ())), name


def test_images_and_actions_are_pinned_by_digest() -> None:
    """A tag can be moved to other content; a digest and a commit cannot."""
    images = re.findall(r"^ARG BASE=(.+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    images += [
        service["image"] for file in FILES for service in read(file)["services"].values() if not service.get("build")
    ]
    assert len(images) == 2
    assert [image for image in images if not re.fullmatch(r"[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}", image)] == []
    actions = re.findall(r"uses: (\S+)@(\S+)", (ROOT / "docs" / "action.md").read_text())
    others = {name: at for name, at in actions if name != "tracehound/tracehound"}
    assert others
    assert [at for at in others.values() if not re.fullmatch("[0-9a-f]{40}", at)] == []
