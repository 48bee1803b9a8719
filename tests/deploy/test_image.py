"""What `make release-check` gives to the server's image, which takes minutes to build."""

from __future__ import annotations

from pathlib import Path

from tests.deploy.image import ImageApp
from tests.servers.github_server import serve_github


def test_the_image_is_given_no_path_of_this_machine(tmp_path: Path) -> None:
    with serve_github() as github:
        app = ImageApp(github, tmp_path / "data", {"TRIAGE_DATA_DIR": "/data"}, within=["run"])
        words = app.command()
    assert "TRIAGE_DATA_DIR=/data" in words
    assert str(tmp_path) not in " ".join(words)
