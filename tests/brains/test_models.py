"""Which models may supervise, and how often models are called."""

from __future__ import annotations

import time

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
    pace = Pace(calls_per_minute=600)
    pace._tokens = 2.0
    started = time.monotonic()
    for _ in range(4):
        await pace.wait()
    assert 0.15 < time.monotonic() - started < 2
