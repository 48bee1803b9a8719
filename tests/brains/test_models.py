"""Which models may supervise, and the rate of model calls."""

from __future__ import annotations

import pytest

from nodes.brains.models import ModelSettings, ModelSettingsError, check_model
from nodes.brains.pace import Pace


@pytest.mark.parametrize("name", ["o1", "o3-mini", "openai/o4-mini", "gpt-5-mini", "gpt-5"])
def test_a_supervisor_without_temperature_is_refused_at_start(name):
    with pytest.raises(ModelSettingsError, match=f"TRIAGE_SUPERVISOR_MODEL={name} takes no temperature"):
        check_model(ModelSettings(supervisor=name))


@pytest.mark.parametrize("name", ["gpt-4o", "gpt-4.1-mini", "llama3.1:8b", "olmo2"])
def test_a_supervisor_with_temperature_is_accepted(name):
    check_model(ModelSettings(supervisor=name))


async def test_a_burst_is_free_and_the_rest_waits_its_turn():
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
