"""Labels that a model proposes: those that the repository has are set, all others are dropped."""

from __future__ import annotations

import json
from pathlib import Path

from tests.limits.day import sound
from tests.limits.test_admission import staged
from tests.servers.github_server import serve_github
from tests.servers.model_server import Reply, Request, fields_of, says, serve

PROPOSED = ["Area: Dates", "invented", "bug"]


def proposes(request: Request) -> Reply:
    """Answer as a sound model that proposes labels in its draft."""
    reply = sound(request)
    if "root_cause" not in fields_of(request):
        return reply
    draft = json.loads(reply.body["choices"][0]["message"]["content"])
    return says({**draft, "labels": PROPOSED})


async def test_a_models_labels_are_the_repositorys_own(tmp_path: Path) -> None:
    with serve_github() as github, serve() as model:
        model.script = proposes
        settings = {"triage_brain": "llm", "openai_base_url": model.url, "triage_model": "test"}
        async with staged(github, tmp_path, **settings) as stage:
            stage.repo.labels |= {"bug", "area: dates", "wontfix"}
            stage.repo.files[".github/triage.yml"] = "labels:\n  allowed: [bug, 'area: *', invented]\n"
            number = await stage.opened()
            named = {label["name"] for label in stage.repo.issues[number]["labels"]}
            assert model.requests
            assert "feedbox/dates.py" in stage.reported(number)
    assert named == {"bug", "area: dates"}
