"""Find and parse the operator's file; all faults are reported together, each with its line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bot.dotenv import is_inside
from bot.errors import UserError
from bot.operator_config.model import GitHubIssues, OperatorConfig, SearxNG, Specialists, Tavily, ToolConfig, Web
from bot.yaml_file import ConfigError, read_yaml

_KNOWN = {
    "": tuple(OperatorConfig.model_fields),
    "tools": ("document_retriever", "database_query", "web_search"),
    "web": tuple(Web.model_fields),
    "web.github_issues": tuple(GitHubIssues.model_fields),
    "web.searxng": tuple(SearxNG.model_fields),
    "web.tavily": tuple(Tavily.model_fields),
    "specialists": tuple(Specialists.model_fields),
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
