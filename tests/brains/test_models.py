"""Which models may supervise, and the rate of model calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.brains.calls.budget import Pace
from nodes.brains.calls.models import Models, ModelSettings


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        *(pytest.param(name, False, id=name) for name in ("o1", "o3-mini", "openai/o4-mini", "gpt-5-mini", "gpt-5")),
        *(pytest.param(name, True, id=name) for name in ("gpt-4o", "gpt-5-chat", "llama3.1:8b", "olmo2")),
    ],
)
def test_a_model_without_temperature_gets_none_and_the_report_states_it(name, takes):
    model = Models(ModelSettings()).get(name)
    assert model.abilities.temperature == takes
    assert any("takes no temperature" in remark for remark in model.remarks) != takes


def test_learnt_abilities_are_available_to_the_next_process(tmp_path):
    settings = ModelSettings(base_url="http://one.example/v1", memory=tmp_path / "models.json")
    Models(settings).get("m").learn(method="json_mode", temperature=False, window=4_096)
    again = Models(settings).get("m").abilities
    assert (again.method, again.temperature, again.window) == ("json_mode", False, 4_096)
    assert Models(replace(settings, base_url="http://two.example/v1")).get("m").abilities.method == "json_schema"


@pytest.mark.parametrize("text", ["", "[]", '{"http://one.example/v1 m": {"method": "telepathy", "learnt": 1}}'])
def test_a_damaged_or_old_file_of_abilities_is_ignored(tmp_path, text):
    (tmp_path / "models.json").write_text(text)
    settings = ModelSettings(base_url="http://one.example/v1", memory=tmp_path / "models.json")
    assert Models(settings).get("m").abilities.method == "json_schema"


async def test_a_burst_passes_and_later_calls_wait():
    now, waits = 0.0, []

    async def sleep(seconds):
        nonlocal now
        now += seconds
        waits.append(seconds)

    pace = Pace(calls_per_minute=600, clock=lambda: now, sleep=sleep)
    for _ in range(603):
        await pace.wait()
    assert waits == pytest.approx([0.1] * 3)
    now += 0.2
    for _ in range(3):
        await pace.wait()
    assert waits == pytest.approx([0.1] * 4)
