"""The operator's file, TRIAGE_CONFIG: the only place that can name tools, commands and addresses."""

import os
import re
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from bot.errors import UserError
from bot.files import is_inside
from bot.limits.ceilings import AuthorCeiling, Ceiling, Prices, ceiling_of
from bot.settings.environment import Settings
from bot.settings.plain import ENV_NAME, HEADER_NAME, MODEL_NAME, ONE_LINE, TOOL_NAME, explain
from bot.settings.retired import MOVED, OPERATOR_KEYS, moved_values, warn_once
from bot.settings.yaml_file import SECTION, ConfigError, file_schema, notes_on, read_yaml
from nodes.judgements import NodeName

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_URL = re.compile(r"https?://[^/\s@?#]+(?:[/?#][^\s]*)?")
_TAKEN = (frozenset(get_args(NodeName)) | {"supervisor", "tool", "join"}) - {"web_search"}
"""Reserved node names; a tool may be called ``web_search``, and is then a provider of the web search."""
Word = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Argument = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
EnvName = Annotated[str, StringConstraints(pattern=ENV_NAME)]
HeaderName = Annotated[str, StringConstraints(pattern=HEADER_NAME)]
Value = Annotated[str, StringConstraints(max_length=4_000, pattern=ONE_LINE)]
Amount = Annotated[float, Field(ge=0, le=1e12)]
Spent = Literal["calls", "tokens", "cost", "questions"]
ModelName = Annotated[str, StringConstraints(pattern=MODEL_NAME)]
_CALLS = {"low": 8, "normal": 40, "high": 80}


def from_environment(text: str) -> str:
    """Return a text with each ``${NAME}`` replaced; ValueError, without any value, if a variable is not set."""
    missing = [name for name in _REFERENCE.findall(text) if not os.environ.get(name)]
    if missing:
        raise ValueError(f"the environment variable {missing[0]} is not set")
    return _REFERENCE.sub(lambda found: os.environ[found[1]], text)


def _address(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError("must be an http or https address without a user or password")
    return text.rstrip("/")


def _free(name: str) -> str:
    if name in _TAKEN:
        raise ValueError("is reserved; choose another name")
    return name


Address = Annotated[str, StringConstraints(max_length=500), AfterValidator(_address)]
ToolName = Annotated[str, StringConstraints(pattern=TOOL_NAME), AfterValidator(_free)]
Expanded = Annotated[Value, AfterValidator(from_environment)]
Headers = Annotated[dict[HeaderName, Expanded], Field(max_length=20, repr=False)]


def _whole(values: dict[str, float]) -> dict[str, float]:
    broken = next((name for name, value in values.items() if name != "cost" and value % 1), None)
    if broken is not None:
        raise ValueError(f"must be whole numbers, and {broken} is not")
    return values


Daily = Annotated[dict[Spent | Literal["issues"], Amount], AfterValidator(_whole)]


class Section(BaseModel):
    """A section of the file; an unknown key is an error."""

    model_config = SECTION


class LimitsConfig(Section):
    """Limits on what is spent; a resource that is left out is not limited, and after a limit rules judge."""

    run: Annotated[dict[Spent, Amount], AfterValidator(_whole)] | None = None
    """The maximum of ``calls`` and ``tokens`` of models, ``cost`` in dollars and ``questions`` of one run. Unset: 8, 40
    or 80 calls for the levels of ``TRIAGE_EFFORT``."""
    repository: Daily = {"issues": 10_000}
    """The maximum of these and of triaged ``issues`` in one repository per day."""
    installation: Daily = {}
    """The same for all repositories of one account, together."""
    all: Daily = {}
    """The same for the whole App."""
    author: Annotated[dict[Literal["hour", "day", "answers"], Amount], AfterValidator(_whole)] = {
        "hour": 300,
        "day": 1_000,
        "answers": 20,
    }
    """For one author in one repository: issues triaged per ``hour`` and per ``day``, and comments with commands
    answered per hour (``answers``); users with triage permission there are not limited."""


class Price(Section):
    """Dollars per million tokens."""

    input: Amount
    """The price of input."""
    output: Amount
    """The price of output."""
    cached: Amount | None = None
    """The price of input from the endpoint's cache; unset means that it costs as much as other input."""

    @property
    def amounts(self) -> tuple[float, ...]:
        """The prices in the order of ``Prices``."""
        return tuple(price for price in (self.input, self.output, self.cached) if price is not None)


class ToolConfig(Section):
    """A tool of an MCP server."""

    url: Address | None = None
    """The server's URL (streamable HTTP)."""
    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=50)] | None = None
    """The command that starts the server: a list of the program and its arguments (standard streams), without a
    shell."""
    headers: Headers = {}
    """HTTP headers of every request; ``${NAME}`` is replaced by an environment variable."""
    env: Annotated[dict[EnvName, Expanded], Field(max_length=50, repr=False)] = {}
    """The command's environment, in addition to PATH, HOME, LANG, LC_ALL and TMPDIR; ``${NAME}`` is replaced by an
    environment variable."""
    tool: Annotated[str, StringConstraints(max_length=200)] = ""
    """The server's name for the tool; unset means the tool with this key's name, or the server's only tool."""
    arguments: Annotated[dict[Word, Any], Field(max_length=20)] = {}
    """Further arguments of every call, such as a collection's name. The question goes to the text argument that is
    left."""
    description: Annotated[str, StringConstraints(max_length=300)] = ""
    """When to query it, in one sentence; a model chooses tools by this text."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words in an issue that make the rules brain query it."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.url is None) == (self.command is None):
            raise ValueError("either url or command is needed")
        if self.command is not None and self.headers:
            raise ValueError("headers apply only to a url; use env for a command")
        if self.url is not None and self.env:
            raise ValueError("env applies only to a command; use headers for a url")
        return self


class SearxNG(Section):
    """A SearXNG instance; its ``search.formats`` must allow json."""

    url: Address
    """The instance's URL."""


class Tavily(Section):
    """Tavily's search API."""

    api_key: Annotated[Value, Field(min_length=1, repr=False), AfterValidator(from_environment)]
    """The API key; write ``${TAVILY_API_KEY}`` to read it from the environment."""


class Web(Section):
    """Providers of the web search, queried concurrently; without one the web is not searched."""

    github_issues: Annotated[bool, BeforeValidator(lambda value: value == {} or value)] = False
    """``true`` searches GitHub's issues of the dependency that a stack trace leads into."""
    searxng: SearxNG | None = None
    """A SearXNG instance."""
    tavily: Tavily | None = None
    """Tavily's search API."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words in an issue that make the rules brain search the web; an error raised in a dependency always does."""


class LogsConfig(Section):
    """Logs that are attached to issues: read as text of the reporter (docs/logs.md)."""

    enabled: bool = True
    """``false`` reads no attached file."""


class OperatorConfig(Section):
    """The operator's configuration; a repository's file cannot set any of it."""

    limits: LimitsConfig = LimitsConfig()
    """Limits on what is spent."""
    prices: Annotated[dict[ModelName, Price], Field(max_length=100)] = {}
    """Dollars per million ``input``, ``output`` and, if they cost less, ``cached`` input tokens, by the name of the
    model; a limit on ``cost`` needs them."""
    tools: Annotated[dict[ToolName, ToolConfig], Field(max_length=20)] = {}
    """MCP tools by name: ``document_retriever``, ``database_query``, ``web_search``, or any other."""
    web: Web = Web()
    """The providers of the web search."""
    logs: LogsConfig = LogsConfig()
    """Logs that are attached to issues."""


read_operator_config = partial(read_yaml, model=OperatorConfig, retired=OPERATOR_KEYS)
operator_schema = partial(file_schema, OperatorConfig, "operator.yml", "the operator's configuration")


def load_operator_config(settings: Settings, repository: str | None = None) -> OperatorConfig:
    """Load the file that TRIAGE_CONFIG names; without one, no source outside a repository is ever queried.

    A file inside the analysed repository is refused, since the repository may have supplied it.

    Raises:
        UserError: the file cannot be read, is invalid, or lies in the repository.
    """
    path = settings.triage_config
    if path is None:
        return OperatorConfig()
    if repository is not None and is_inside(repository, path):
        raise UserError(
            f"TRIAGE_CONFIG: {path} is inside the repository that is read, which could then configure commands that "
            "run here: move it elsewhere"
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"TRIAGE_CONFIG: {path} cannot be read ({type(error).__name__})") from error
    try:
        config = read_operator_config(text)
    except ConfigError as error:
        raise UserError(f"TRIAGE_CONFIG: {path}: {error}") from error
    for note in notes_on(text, OPERATOR_KEYS):
        warn_once(f"TRIAGE_CONFIG: {path}: {note}")
    return config


@dataclass(frozen=True, slots=True)
class Spending:
    """The operator's ceilings and prices."""

    run: Ceiling
    repository: Ceiling
    installation: Ceiling
    everything: Ceiling
    author: AuthorCeiling
    prices: Prices

    @classmethod
    def of(cls, settings: Settings, config: OperatorConfig | None = None) -> Self:
        """Read them from the operator's file, which is loaded unless it is given, else from the variables of before."""
        file = _with_moved(load_operator_config(settings) if config is None else config, settings)
        limits, calls = file.limits, {"calls": _CALLS[settings.triage_effort]}
        return cls(
            run=ceiling_of(calls if limits.run is None else limits.run),
            repository=ceiling_of(limits.repository),
            installation=ceiling_of(limits.installation),
            everything=ceiling_of(limits.all),
            author=AuthorCeiling.of(limits.author),
            prices={model: price.amounts for model, price in file.prices.items()},
        )


def _with_moved(config: OperatorConfig, settings: Settings) -> OperatorConfig:
    """Return the configuration with the variables of before, where the file does not have their key."""
    written = {*config.model_fields_set, *(f"limits.{scope}" for scope in config.limits.model_fields_set)}
    for name, where in MOVED.items():
        section, _, scope = where.partition(".")
        text = getattr(settings, name)
        if text is None or where in written:
            continue
        values = moved_values(name, text)
        try:
            read = OperatorConfig.model_validate({section: {scope: values} if scope else values}, strict=False)
        except ValidationError as error:
            fault = explain(error.errors()[0])
            raise UserError(f"{name.upper()}: {fault}; write `{where}` in TRIAGE_CONFIG") from error
        limits = config.limits.model_copy(update={scope: getattr(read.limits, scope)}) if scope else config.limits
        config = config.model_copy(update={"limits": limits, "prices": config.prices if scope else read.prices})
    return config
