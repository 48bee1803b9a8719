"""Settings of earlier releases: for one release they are accepted with a warning."""

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

MOVED: Mapping[str, str] = {
    "triage_limits_run": "limits.run",
    "triage_limits_repository": "limits.repository",
    "triage_limits_installation": "limits.installation",
    "triage_limits_all": "limits.all",
    "triage_limits_author": "limits.author",
    "triage_prices": "prices",
}
"""Variables that still have an effect, and the key of the operator's file that replaces each."""
VARIABLES: Mapping[str, str] = {
    "TRIAGE_CACHE_MB": "a repository's parsed files take at most 512 MB",
    "TRIAGE_INDEX_MB": "64 MB of a commit's text are indexed",
    "TRIAGE_READING_TURNS": "it follows from TRIAGE_EFFORT",
    "TRIAGE_READING_TOKENS": "it follows from TRIAGE_EFFORT",
    "TRIAGE_MODEL_OUTPUT_TOKENS": "a response has at most 3,000 tokens, and three times as many after one was cut off",
    "TRIAGE_CONTEXT_CHARS": "an issue's text above 6,000 characters is shortened",
    "TRIAGE_KEEP_DELIVERIES_DAYS": "deliveries are retained for 7 days",
    "TRIAGE_KEEP_GONE_DAYS": "the data of a removed repository is deleted after 30 days",
    "TRIAGE_KEEP_MIRRORS_DAYS": "an unused mirror is retained for 30 days",
    "TRIAGE_PICTURE_MODEL": "pictures are not read",
    "TRIAGE_KEEP_CLOSED_DAYS": "the evidence of a closed issue is retained for 90 days",
    "TRIAGE_ALLOWED_BOTS": "`bots` in a repository's .github/triage.yml names the bots whose issues are triaged",
    "TRIAGE_CONCURRENCY": "`triage serve` and `triage worker` have the option --concurrency",
    "TRIAGE_MODEL_EFFORT": "the endpoint's configuration sets a model's reasoning effort",
    "TRIAGE_ALERT_URL": "an alert is a comment on the first issue, of which GitHub notifies",
    "TRIAGE_ALERT_SECRET": "an alert is a comment on the first issue",
    "GITHUB_APP_SLUG": "GitHub is asked for the App's name",
    "TRIAGE_JOB_MINUTES": "an attempt takes at most 15 minutes, or four times TRIAGE_MODEL_TIMEOUT",
}
"""Variables without an effect, and what applies instead."""
OPERATOR_KEYS: Mapping[str, str] = {
    "tools.*.enabled": "comment out a tool that is not in use",
    "tools.*.max_bytes": "a response has at most 1 MB",
    "tools.*.kind": "a result is a document, or what `database_query` and `web_search` are named for",
    "tools.*.argument": "the tool's schema names it; give all others under `arguments`",
    "web.tavily.url": "Tavily is at https://api.tavily.com",
    "tools.*.cwd": "a command runs in `/`",
    "tools.*.timeout": "a tool has 20 seconds for start, connection and response together",
    "web.searxng.headers": "a SearXNG instance is queried without further headers",
    "web.*.enabled": "comment out a provider that is not in use",
    "web.*.per_minute": "there are at most 25 searches a minute",
    "web.*.timeout": "a search takes at most 15 seconds",
    "web.*.max_bytes": "a response has at most 1 MB",
    "specialists": "a source has 30 seconds, and a code search in parallel 300",
    "pictures": "pictures are not read",
    "logs.count": "the first three files are read",
    "logs.max_bytes": "a file has at most 2 MB",
    "logs.hosts": "a file is fetched from where GitHub stores it",
    "logs.timeout": "a file takes at most 10 seconds",
}
"""The same for keys of the operator's file. ``enabled: false`` still leaves out its tool or provider."""
REPOSITORY_KEYS: Mapping[str, str] = {
    "pictures": "pictures are not read",
    "digest": "no digest is posted; the pages and `triage stats` show a repository's reports",
    "commands.digest": "there is no digest",
    "commands.component": "`/triage redirect` and `/triage wrong` name a place",
    "labels.paths": "labels judge no report; `/triage right` and `/triage wrong` do",
    "earlier_issues": "a report is always compared with earlier issues",
    "limits.runs_per_day": "the operator's limit on issues of one repository applies",
    "limits.suspects": "a report shows at most three places",
    "limits.over": "issues over the operator's daily limit wait for the next day",
    "limits.issues_per_author": "the operator's limit on one author applies",
    "limits.model_calls_per_day": "the operator's limits on models apply",
    "limits.model_tokens_per_day": "the operator's limits on models apply",
    "limits.questions_per_day": "an issue gets at most two questions, or `limits.questions`",
}
"""The same for keys of ``.github/triage.yml``."""
_AMOUNT = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_PRICE = re.compile(rf"{_AMOUNT.pattern}(?:/{_AMOUNT.pattern}){{1,2}}")
_warned = set[str]()
logger = logging.getLogger(__name__)


def moved_values(name: str, text: str) -> dict[str, Any]:
    """Return the value of one of the variables in ``MOVED`` in the form of the operator's file.

    ``calls=40 cost=1.50`` limits, ``none`` does not, and ``model=2.50/10/1.25`` has the prices of input, output and
    cached input.

    Raises:
        ValueError: the text has another form.
    """
    found: dict[str, Any] = {}
    for part in text.replace(",", " ").split():
        key, _, value = part.rpartition("=")
        form = _PRICE if name == "triage_prices" else _AMOUNT
        if part.lower() == "none":
            continue
        if not key or not form.fullmatch(value):
            raise ValueError(f"“{part}” is not understood: write `{MOVED[name]}` in the operator's file instead")
        prices = dict(zip(("input", "output", "cached"), map(float, value.split("/")), strict=False))
        found |= {key: prices} if form is _PRICE else {key.lower(): float(value)}
    return found


def warn_of_retired(variables: Iterable[str]) -> None:
    """Log a warning about each retired variable, once per process."""
    for name in variables:
        if name in VARIABLES:
            warn_once(f"{name} has no effect any more: {VARIABLES[name]}")
        elif name.lower() in MOVED:
            warn_once(
                f"{name} is read in this release for the last time: write `{MOVED[name.lower()]}` in TRIAGE_CONFIG"
            )


def remove_retired(values: dict[str, Any], table: Mapping[str, str]) -> None:
    """Remove the retired keys from a file's values, and each entry with ``enabled: false``."""
    for path in list(retired_keys(values, table)):
        parent: Any = values
        for part in path[:-1]:
            parent = parent.get(part, {})
        if parent.pop(path[-1], None) is False and path[-1] == "enabled":
            values[path[0]].pop(path[1])


def retired_keys(values: Any, table: Mapping[str, str], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of each retired key in a file's values."""
    for key, value in values.items() if isinstance(values, dict) else ():
        path = (*before, key)
        if instead_of(path, table) is not None:
            yield path
        else:
            yield from retired_keys(value, table, path)


def instead_of(path: Sequence[str], table: Mapping[str, str]) -> str | None:
    """Return what applies instead of a retired key; None if the key is in use."""
    return table.get(".".join(path)) or (table.get(f"{path[0]}.*.{path[2]}") if len(path) == 3 else None)


def warn_once(message: str) -> None:
    """Log a warning, once per process."""
    if message not in _warned:
        _warned.add(message)
        logger.warning("%s", message, extra={"action": "setting_retired"})
