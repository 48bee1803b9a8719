"""The keys of the operator's file (TRIAGE_CONFIG): what may be asked outside a repository, and within which bounds."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from nodes.evidence import EvidenceKind
from nodes.state import NodeName

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_URL = re.compile(r"https?://[^/\s@?#]+(?:[/?#][^\s]*)?")
_TAKEN = (frozenset(get_args(NodeName)) | {"supervisor", "tool", "join"}) - {"web_search"}
"""Names of nodes; a tool may be called ``web_search``, and is then one of its providers."""
_KINDS: dict[str, EvidenceKind] = {"database_query": "database", "web_search": "web"}


def _address(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError("an http or https address without a user or password in it is needed")
    return text.rstrip("/")


def _free(name: str) -> str:
    if name in _TAKEN:
        raise ValueError("is a part of triage itself; choose another name")
    return name


Address = Annotated[str, StringConstraints(max_length=500), AfterValidator(_address)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Argument = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$"), AfterValidator(_free)]
EnvName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,80}$")]
Value = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\r\n\x00]*$")]
Seconds = Annotated[float, Field(gt=0, le=600)]
PerMinute = Annotated[float, Field(gt=0, le=6_000)]
SourceKind = Literal["document", "database", "web"]


class Section(BaseModel):
    """A part of the file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=True)


class ToolConfig(Section):
    """A tool of an MCP server."""

    enabled: bool = True
    """``false`` leaves it alone, and its missing variables too."""
    url: Address | None = None
    """Where the server is (streamable HTTP)."""
    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=50)] | None = None
    """What starts the server, a list of the program and its arguments (standard streams); no shell reads it."""
    headers: Annotated[dict[HeaderName, Value], Field(max_length=20, repr=False)] = {}
    """Sent with every request; ``${NAME}`` stands for an environment variable."""
    env: Annotated[dict[EnvName, Value], Field(max_length=50, repr=False)] = {}
    """Environment of the command, beside PATH, HOME, LANG, LC_ALL and TMPDIR; ``${NAME}`` as above."""
    cwd: Annotated[str, StringConstraints(pattern=r"^/")] | None = None
    """The folder the command starts in, as an absolute path; unset means ``/``."""
    tool: Annotated[str, StringConstraints(max_length=200)] = ""
    """The server's own name for the tool; unset means the one of this name, or the server's only one."""
    argument: Annotated[str, StringConstraints(max_length=100)] = ""
    """The argument that takes the question; unset means the one that the tool's schema suggests."""
    arguments: Annotated[dict[Word, Any], Field(max_length=20)] = {}
    """Sent along with every question, such as a collection's name."""
    kind: SourceKind | None = None
    """What its results are; unset means database for ``database_query``, web for ``web_search``, else document."""
    description: Annotated[str, StringConstraints(max_length=300)] = ""
    """When it is worth asking, in a sentence: what a model chooses by."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words of an issue that make rules ask it."""
    timeout: Seconds = 20.0
    """Seconds for start, connection and answer together."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """What the server may say in answer to one question."""

    @field_validator("headers", "env", mode="after")
    @classmethod
    def _with_secrets(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if not info.data.get("enabled", True):
            return value
        return {name: from_environment(text) for name, text in value.items()}

    @model_validator(mode="after")
    def _one_way(self) -> ToolConfig:
        if (self.url is None) == (self.command is None):
            raise ValueError("either url or command is needed")
        if self.command is not None and self.headers:
            raise ValueError("headers are for a url; a command has env")
        if self.url is not None and (self.env or self.cwd):
            raise ValueError("env and cwd are for a command; a url has headers")
        return self

    def kind_for(self, name: str) -> EvidenceKind:
        """What its results are, by its name where the file does not say."""
        return self.kind or _KINDS.get(name, "document")


class GitHubIssues(Section):
    """Search of the issues of the dependency that a stack trace leads into."""

    enabled: bool = True
    """``false`` leaves it alone."""
    per_minute: PerMinute = 25.0
    """Searches a minute; GitHub allows thirty."""


class SearxNG(Section):
    """A SearXNG instance; its ``search.formats`` must allow json."""

    enabled: bool = True
    """``false`` leaves it alone."""
    url: Address
    """Where the instance is."""
    headers: Annotated[dict[HeaderName, Value], Field(max_length=20, repr=False)] = {}
    """Sent with every request; ``${NAME}`` stands for an environment variable."""
    timeout: Seconds = 10.0
    """Seconds for an answer."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """What an answer may be long."""
    per_minute: PerMinute = 30.0
    """Searches a minute."""

    @field_validator("headers", mode="after")
    @classmethod
    def _with_secrets(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if not info.data.get("enabled", True):
            return value
        return {name: from_environment(text) for name, text in value.items()}


class Tavily(Section):
    """Tavily's search API."""

    enabled: bool = True
    """``false`` leaves it alone."""
    api_key: Annotated[Value, Field(min_length=1, repr=False)]
    """The key, best as ``${TAVILY_API_KEY}``."""
    url: Address = "https://api.tavily.com"
    """Where the API is."""
    timeout: Seconds = 15.0
    """Seconds for an answer."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """What an answer may be long."""
    per_minute: PerMinute = 30.0
    """Searches a minute."""

    @field_validator("api_key", mode="after")
    @classmethod
    def _with_secret(cls, value: str, info: ValidationInfo) -> str:
        return from_environment(value) if info.data.get("enabled", True) else value


class Web(Section):
    """Providers of the web search; all that are enabled are asked at once. Without one nothing is searched for."""

    github_issues: GitHubIssues | None = None
    """Issues of the dependency that a stack trace leads into, by GitHub's search."""
    searxng: SearxNG | None = None
    """A SearXNG instance."""
    tavily: Tavily | None = None
    """Tavily's search API."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words of an issue that make rules search the web; an error raised in a dependency does so anyway."""


class Specialists(Section):
    """What runs beside a search."""

    timeout: Seconds = 30.0
    """Seconds that a web search or a tool has; then the run goes on without it."""
    code_timeout: Seconds = 300.0
    """Seconds that the code search has beside others; alone it has none, since everything falls back to it."""


class OperatorConfig(Section):
    """What whoever runs triage says; no repository's file can name any of it."""

    tools: Annotated[dict[ToolName, ToolConfig], Field(max_length=20)] = {}
    """MCP tools by name: ``document_retriever``, ``database_query``, ``web_search``, or any other."""
    web: Web = Web()
    """Where the web is searched."""
    specialists: Specialists = Specialists()
    """How long what is asked beside the code search may take."""


def from_environment(text: str) -> str:
    """A text with ``${NAME}`` filled in.

    Raises:
        ValueError: a variable is not set; the message never holds what others are set to.
    """
    missing = [name for name in _REFERENCE.findall(text) if not os.environ.get(name)]
    if missing:
        raise ValueError(f"the environment variable {missing[0]} is not set")
    return _REFERENCE.sub(lambda found: os.environ[found[1]], text)


def operator_schema() -> dict[str, Any]:
    """The JSON Schema of the file."""
    schema = OperatorConfig.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "Tracehound: the operator's configuration",
    }
