"""Build model settings from the environment's settings, and probe the model endpoint."""

from functools import partial

from bot.errors import UserError, unanswered
from bot.limits.ceilings import cost
from bot.settings.environment import Settings
from bot.settings.operator import Spending
from nodes.brains.calls.budget import RunLimits
from nodes.brains.calls.models import READING, ModelSettings, ReadingLimits

AGREEMENT = "agreement.json"
"""The file of a fitted table of agreement, in the data directory."""
_PROBE_SECONDS = 5.0


def model_settings(settings: Settings) -> ModelSettings:
    """Return the model of each role, with the endpoint and its limits."""
    spending = Spending.of(settings)
    ceiling = spending.run
    return ModelSettings(
        supervisor=settings.triage_supervisor_model,
        critic=settings.triage_critic_model,
        default=settings.triage_model,
        simple=settings.triage_model_simple,
        medium=settings.triage_model_medium,
        complex=settings.triage_model_complex,
        base_url=settings.openai_base_url,
        calls_per_minute=settings.triage_model_calls_per_minute,
        limits=RunLimits(*map(ceiling.get, ("calls", "tokens", "cost"))),
        price=partial(cost, spending.prices),
        timeout=settings.triage_model_timeout,
        level=settings.triage_effort,
        reading=READING[settings.triage_effort] or ReadingLimits(),
        memory=settings.triage_data_dir / "models.json",
        agreement=settings.triage_data_dir / AGREEMENT,
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else "",
    )


def check_brain(settings: Settings) -> None:
    """Check that the brain ``llm``, if selected, is fully configured, without calling the model.

    Raises:
        UserError: the key and endpoint are missing, or a price, without which a limit on cost would have no effect.
    """
    if settings.brain == "rules":
        return
    if settings.openai_api_key is None and settings.openai_base_url is None:
        raise UserError("the brain `llm` needs OPENAI_API_KEY, or OPENAI_BASE_URL for a local endpoint")
    spending = Spending.of(settings)
    limits = (spending.run, spending.repository, spending.installation, spending.everything)
    if not any("cost" in limit for limit in limits):
        return
    of = model_settings(settings)
    for model in (of.supervisor, of.critic, of.default, of.simple, of.medium, of.complex):
        if model and model not in spending.prices:
            raise UserError(f"TRIAGE_CONFIG has no price for {model}, and a limit on cost is set")


async def model_fault(models: ModelSettings) -> str | None:
    """Return why the configured model does not work, in one line; None if its endpoint responds."""
    import httpx  # noqa: PLC0415  only where a model is configured

    base = (models.base_url or "https://api.openai.com/v1").rstrip("/")
    headers = {"Authorization": f"Bearer {models.api_key}"} if models.api_key else {}
    try:
        async with httpx.AsyncClient(timeout=_PROBE_SECONDS) as client:
            # The list of models needs a valid key but costs no tokens.
            response = await client.get(f"{base}/models", headers=headers)
    except httpx.HTTPError as error:
        return f"{unanswered(base, error)}: check OPENAI_BASE_URL"
    # Other errors are not reported: some endpoints have no list of models.
    if response.status_code in (401, 403):
        return f"{base} refuses the key ({response.status_code}): check OPENAI_API_KEY"
    return None
