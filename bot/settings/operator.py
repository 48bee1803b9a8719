"""The operator's file, TRIAGE_CONFIG: the only place that can name tools, commands and addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
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

from bot.errors import UserError
from bot.files import is_inside
from bot.release import schema_address
from bot.settings.plain import ABSOLUTE, ENV_NAME, HEADER_NAME, HOST_NAME, ONE_LINE, TOOL_NAME
from bot.settings.yaml_file import ConfigError, read_yaml
from nodes.evidence import EvidenceKind
from nodes.state import NodeName

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_URL = re.compile(r"https?://[^/\s@?#]+(?:[/?#][^\s]*)?")
_TAKEN = (frozenset(get_args(NodeName)) | {"supervisor", "tool", "join"}) - {"web_search"}
"""Reserved node names; a tool may be called ``web_search``, and is then a provider of the web search."""
_KINDS: dict[str, EvidenceKind] = {"database_query": "database", "web_search": "web"}


def _address(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError("must be an http or https address without a user or password")
    return text.rstrip("/")


def _free(name: str) -> str:
    if name in _TAKEN:
        raise ValueError("is reserved; choose another name")
    return name


ATTACHMENT_HOSTS = (
    "github.com",
    "user-images.githubusercontent.com",
    "private-user-images.githubusercontent.com",
    "github-production-user-asset-6210df.s3.amazonaws.com",
)
"""Where GitHub stores attachments of issues. The first redirects to the last."""
Address = Annotated[str, StringConstraints(max_length=500), AfterValidator(_address)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Argument = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
ToolName = Annotated[str, StringConstraints(pattern=TOOL_NAME), AfterValidator(_free)]
EnvName = Annotated[str, StringConstraints(pattern=ENV_NAME)]
HeaderName = Annotated[str, StringConstraints(pattern=HEADER_NAME)]
Value = Annotated[str, StringConstraints(max_length=4_000, pattern=ONE_LINE)]
Seconds = Annotated[float, Field(gt=0, le=600)]
PerMinute = Annotated[float, Field(gt=0, le=6_000)]
HostName = Annotated[str, StringConstraints(pattern=HOST_NAME)]
SourceKind = Literal["document", "database", "web"]


class Section(BaseModel):
    """A section of the file; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True, strict=True, defer_build=True)


class ToolConfig(Section):
    """A tool of an MCP server."""

    # First, because a field's validator sees only the values of the fields above it.
    enabled: bool = True
    """``false`` turns the tool off; its environment variables may then be missing."""
    url: Address | None = None
    """The server's URL (streamable HTTP)."""
    command: Annotated[tuple[Argument, ...], Field(min_length=1, max_length=50)] | None = None
    """The command that starts the server: a list of the program and its arguments (standard streams), without a
    shell."""
    headers: Annotated[dict[HeaderName, Value], Field(max_length=20, repr=False)] = {}
    """HTTP headers of every request; ``${NAME}`` is replaced by an environment variable."""
    env: Annotated[dict[EnvName, Value], Field(max_length=50, repr=False)] = {}
    """The command's environment, in addition to PATH, HOME, LANG, LC_ALL and TMPDIR; ``${NAME}`` is replaced by an
    environment variable."""
    cwd: Annotated[str, StringConstraints(pattern=ABSOLUTE)] | None = None
    """The command's working directory, as an absolute path; unset means ``/``."""
    tool: Annotated[str, StringConstraints(max_length=200)] = ""
    """The server's name for the tool; unset means the tool with this key's name, or the server's only tool."""
    argument: Annotated[str, StringConstraints(max_length=100)] = ""
    """The argument that receives the question; unset means the one that the tool's schema suggests."""
    arguments: Annotated[dict[Word, Any], Field(max_length=20)] = {}
    """Further arguments of every call, such as a collection's name."""
    kind: SourceKind | None = None
    """Kind of its results; unset means database for ``database_query``, web for ``web_search``, else document."""
    description: Annotated[str, StringConstraints(max_length=300)] = ""
    """When to query it, in one sentence; a model chooses tools by this text."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words in an issue that make the rules brain query it."""
    timeout: Seconds = 20.0
    """Seconds for start, connection and response together."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """Maximum size of the response to one question, in bytes."""

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
            raise ValueError("headers apply only to a url; use env for a command")
        if self.url is not None and (self.env or self.cwd):
            raise ValueError("env and cwd apply only to a command; use headers for a url")
        return self

    def kind_for(self, name: str) -> EvidenceKind:
        """Return the kind of its results, derived from its name if not configured."""
        return self.kind or _KINDS.get(name, "document")


class GitHubIssues(Section):
    """GitHub's search in the issues of the dependency that a stack trace leads into."""

    enabled: bool = True
    """``false`` turns it off."""
    per_minute: PerMinute = 25.0
    """Searches per minute; GitHub allows 30."""


class SearxNG(Section):
    """A SearXNG instance; its ``search.formats`` must allow json."""

    enabled: bool = True
    """``false`` turns it off."""
    url: Address
    """The instance's URL."""
    headers: Annotated[dict[HeaderName, Value], Field(max_length=20, repr=False)] = {}
    """HTTP headers of every request; ``${NAME}`` is replaced by an environment variable."""
    timeout: Seconds = 10.0
    """Seconds for a response."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """Maximum size of a response, in bytes."""
    per_minute: PerMinute = 30.0
    """Searches per minute."""

    @field_validator("headers", mode="after")
    @classmethod
    def _with_secrets(cls, value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if not info.data.get("enabled", True):
            return value
        return {name: from_environment(text) for name, text in value.items()}


class Tavily(Section):
    """Tavily's search API."""

    enabled: bool = True
    """``false`` turns it off."""
    api_key: Annotated[Value, Field(min_length=1, repr=False)]
    """The API key; write ``${TAVILY_API_KEY}`` to read it from the environment."""
    url: Address = "https://api.tavily.com"
    """The API's URL."""
    timeout: Seconds = 15.0
    """Seconds for a response."""
    max_bytes: Annotated[int, Field(ge=1_000, le=50_000_000)] = 1_000_000
    """Maximum size of a response, in bytes."""
    per_minute: PerMinute = 30.0
    """Searches per minute."""

    @field_validator("api_key", mode="after")
    @classmethod
    def _with_secret(cls, value: str, info: ValidationInfo) -> str:
        return from_environment(value) if info.data.get("enabled", True) else value


class Web(Section):
    """Providers of the web search; all enabled ones are queried concurrently. Without one the web is not searched."""

    github_issues: GitHubIssues | None = None
    """GitHub's search in the issues of the dependency that a stack trace leads into."""
    searxng: SearxNG | None = None
    """A SearXNG instance."""
    tavily: Tavily | None = None
    """Tavily's search API."""
    keywords: Annotated[tuple[Word, ...], Field(max_length=100)] = ()
    """Words in an issue that make the rules brain search the web; an error raised in a dependency always does."""


class Specialists(Section):
    """Time limits of the specialists, the nodes that run in parallel."""

    timeout: Seconds = 30.0
    """Seconds for a web search or a tool; after that the run continues without it."""
    code_timeout: Seconds = 300.0
    """Seconds for the code search when it runs beside others; alone it has no limit, since it is the fallback for
    everything."""


class PicturesConfig(Section):
    """Pictures in issues and answers: fetched, and their words copied by the model, once (docs/pictures.md)."""

    enabled: bool = False
    """``true`` reads pictures where a model judges and accepts images."""
    hosts: Annotated[tuple[HostName, ...], Field(min_length=1, max_length=20)] = ATTACHMENT_HOSTS
    """Hosts from which pictures are fetched, redirects included; the default is where GitHub stores attachments. On
    ``github.com`` only attachments are fetched, no pages."""
    count: Annotated[int, Field(ge=1, le=8)] = 3
    """Maximum number of pictures of one issue and its answers, the first ones; further ones are refused."""
    max_bytes: Annotated[int, Field(ge=10_000, le=20_000_000)] = 4_000_000
    """Maximum size of one picture, in bytes."""
    timeout: Seconds = 10.0
    """Seconds for one picture, redirects included."""


LOG_HOSTS = ("objects.githubusercontent.com", "github-production-repository-file-5c1aeb.s3.amazonaws.com")
"""Where GitHub stores attached files; the pages redirect there."""


class LogsConfig(Section):
    """Logs that are attached to issues: read as text of the reporter (docs/logs.md)."""

    enabled: bool = True
    """``false`` reads no attached file."""
    hosts: Annotated[tuple[HostName, ...], Field(max_length=20)] = LOG_HOSTS
    """Hosts to which GITHUB_SERVER_URL may redirect for an attached file."""
    count: Annotated[int, Field(ge=1, le=8)] = 3
    """Maximum number of attached files of one issue, the first ones."""
    max_bytes: Annotated[int, Field(ge=10_000, le=20_000_000)] = 2_000_000
    """Maximum size of one file, in bytes, packed if it is an archive."""
    timeout: Seconds = 10.0
    """Seconds for one file, redirects included."""


class OperatorConfig(Section):
    """The operator's configuration; a repository's file cannot set any of it."""

    tools: Annotated[dict[ToolName, ToolConfig], Field(max_length=20)] = {}
    """MCP tools by name: ``document_retriever``, ``database_query``, ``web_search``, or any other."""
    web: Web = Web()
    """The providers of the web search."""
    specialists: Specialists = Specialists()
    """Time limits of the sources that run beside the code search."""
    pictures: PicturesConfig = PicturesConfig()
    """Pictures in issues."""
    logs: LogsConfig = LogsConfig()
    """Logs that are attached to issues."""


def from_environment(text: str) -> str:
    """Return a text with each ``${NAME}`` replaced by its environment variable.

    Raises:
        ValueError: a variable is not set; the message never contains values of variables.
    """
    missing = [name for name in _REFERENCE.findall(text) if not os.environ.get(name)]
    if missing:
        raise ValueError(f"the environment variable {missing[0]} is not set")
    return _REFERENCE.sub(lambda found: os.environ[found[1]], text)


def operator_schema() -> dict[str, Any]:
    """Return the file's JSON Schema."""
    schema = OperatorConfig.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_address("operator.yml"),
        **schema,
        "title": "Tracehound: the operator's configuration",
    }


_KNOWN = {
    "": tuple(OperatorConfig.model_fields),
    "tools": ("document_retriever", "database_query", "web_search"),
    "web": tuple(Web.model_fields),
    "web.github_issues": tuple(GitHubIssues.model_fields),
    "web.searxng": tuple(SearxNG.model_fields),
    "web.tavily": tuple(Tavily.model_fields),
    "specialists": tuple(Specialists.model_fields),
    "pictures": tuple(PicturesConfig.model_fields),
    "logs": tuple(LogsConfig.model_fields),
}


def load_operator_config(path: Path | None, repository: str | None = None) -> OperatorConfig:
    """Load the file that TRIAGE_CONFIG names; without one, no source outside a repository is ever queried.

    Args:
        path: the file's path; None means that there is no file.
        repository: the analysed repository; a file inside it is refused, since the repository may have supplied it.

    Raises:
        UserError: the file cannot be read, is invalid, or lies in the repository.
    """
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
        return read_operator_config(text)
    except ConfigError as error:
        raise UserError(f"TRIAGE_CONFIG: {path}: {error}") from error


def read_operator_config(text: str) -> OperatorConfig:
    """Parse the file's text; an empty file means the defaults.

    Raises:
        ConfigError: the text is invalid; the error names each fault with its line.
    """
    return read_yaml(text, OperatorConfig, _known)


def _known(path: Sequence[str]) -> Sequence[str]:
    if len(path) == 2 and path[0] == "tools":
        return tuple(ToolConfig.model_fields)
    return _KNOWN.get(".".join(path), ())


__all__ = ["OperatorConfig", "load_operator_config", "read_operator_config"]
