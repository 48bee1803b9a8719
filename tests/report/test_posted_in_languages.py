"""Every sentence that may be posted on GitHub is in all catalogues; the sources are read, not a list of sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bot.limits import ceilings
from bot.limits.ceilings import ReachedCeiling, describe_limit
from bot.report.languages.catalogue import LANGUAGES, catalogue
from bot.report.languages.translate import read_back, translate
from bot.report.sanitise import prose
from bot.settings.repository import ConfigError, read_config
from bot.settings.repository_file import PATH
from bot.settings.yaml_file import MAX_TEXT
from nodes.guards import GUARDS, meaning

ROOT = Path(__file__).parents[2]
OTHERS = LANGUAGES[1:]
SOURCES = (
    "bot/limits/ceilings.py",
    "bot/report/account.py",
    "bot/report/explain.py",
    "bot/report/wording.py",
    "bot/report/comment/*.py",
    "bot/settings/plain.py",
    "bot/settings/repository.py",
    "bot/settings/repository_file.py",
    "bot/settings/yaml_file.py",
    "bot/worker/*.py",
    "bot/worker/commands/*.py",
    "bot/worker/outcomes/*.py",
    "bot/worker/publish/*.py",
    "bot/worker/runs/*.py",
    "nodes/agents/**/*.py",
    "nodes/brains/rules/*.py",
    "nodes/guards.py",
    "nodes/issue/pictures.py",
    "nodes/issue/reproduction.py",
    "nodes/run.py",
    "nodes/search/ranking/rank.py",
    "nodes/supervisor.py",
    "nodes/trust/*.py",
)
"""The modules whose sentences may be in a comment, a reply or a report. Facts have their own tests of every kind."""
_RECORDED = re.compile(
    r"logger\..*|.*\.(?:log|settle|split|set_wanted)|re\.compile|_sign|.*(?:listener|limited|count_limit_reached)"
    r"|(?:errors\.)?(?:Value|Runtime|Retryable|OutcomeUnknown|RateLimited)Error|ModelError|PostponedError"
    r"|Refused|LookupResult|AgentFinding|CodeReading"
)
"""Calls whose texts go to a log, a job's record, a model or another node."""
_MARK_UP = re.compile(
    r"[*`>\n\[\]()|·“”\\]|</?\w+>|<!--.*|\{\w*\}|^- | — |https?://\S+|/triage [^`]*|(?:triage:\w+ .*)"
)
_WORDS = re.compile(r"[a-z]{2,} \S*[a-z]{2,}")
ELSEWHERE = {
    "bot/limits/ceilings.py": ("is not a", "or none"),
    "bot/report/comment/markdown.py": ("Possible security problem",),
    "bot/report/wording.py": (
        "no code in this commit", "the evidence is too weak", "several places match", "what was claimed did not",
        "this does not report", "the text is too short", "the search and the model disagree",
    ),
    "bot/settings/plain.py": (
        "must be an address", "must consist of lowercase", "must begin with a lowercase", "must be the name of",
        "must be one line", "must be an absolute path", "Value error",
    ),
    "bot/worker/budgets.py": ("the model's server asks to wait", "waiting for a turn", "the wait is too long"),
    "bot/worker/commands/judgements.py": ("bug, needs info",),
    "bot/worker/commands/execute.py": ("You may not give", "the issue is not here"),
    "bot/worker/issue_job.py": ("the installation lacks a permission",),
    "bot/worker/outcomes.py": (
        "no commit on the default branch", "the reported commit", "the fix changed", "the code",
    ),
    "bot/worker/alerts.py": (
        "people reported one",
        "a question has", "the run", "was stopped", "the job", "failed on every", "the digest of", "is posted",
    ),
    "bot/worker/publish/hook.py": ("the alert address",),
    "bot/worker/publish/publisher.py": ("carried by the report",),
    "bot/worker/runs/api_runs.py": ("triage is switched off", "there is no issue"),
    "bot/worker/runs/graph.py": ("the checkpoint of",),
    "bot/worker/runs/conclude.py": (
        "nothing was written", "a question to the", "a request to revoke", "no comment, since", "the run was stopped",
        "a comment", "the report", "the place of its change",
    ),
    "bot/worker/runs/steps.py": ("is gone", "its report could not be written"),
    "bot/worker/tools.py": ("TRIAGE_ALERT_URL needs",),
    "bot/worker/upkeep.py": ("upkeep at start",),
    "bot/worker/worker.py": ("no installation", "the installation is", "the repository is archived"),
    # What a model reads as the answer of a tool.
    "nodes/agents/code/tools.py": ("The same call", "read by a model", "more lines do not", "… the rest does not"),
    "nodes/agents/codebase_search.py": ("nothing new",),
    "nodes/agents/code/record.py": ("nothing found",),
    "nodes/agents/critic.py": ("Required evidence",),
    "nodes/agents/external_sources.py": ("it is no longer configured", "nothing found"),
    "nodes/agents/investigator.py": ("The text names no part",),
    "nodes/agents/writer.py": ("A draft was rejected",),
    "nodes/agents/writing/changes.py": ("no suspect change", "suspect changes"),
    "nodes/agents/writing/past_issues.py": ("no title",),
    "nodes/brains/rules/investigate.py": (
        "The issue describes", "The issue requests", "The issue asks how", "The issue is not about", "a frame without",
        "ends the operation", "The operation ends", "does not do what the",
    ),
    "nodes/brains/rules/places.py": ("an answer names", "on the reporter's stack trace", "at line"),
    "nodes/brains/rules/questions.py": ("get set run", "with the and", "method call"),
    "nodes/guards.py": ("not readable", "nothing joined"),
    "nodes/issue/pictures.py": ("nothing read",),
    "nodes/run.py": ("not asked", "the thread", "was deleted while", "is not waiting"),
    "nodes/search/ranking/rank.py": (
        "its size", "a whole class", "a special method", "represents its", "defines nothing", "outside any", "files of",
    ),
    "nodes/trust/secrets.py": ("xox",),
    "nodes/trust/statements.py": ("insufficient", "lack sufficient", "partially", "not provided", "cannot"),
}  # fmt: skip
"""Beginnings of texts that no comment has: they are for the terminal, the pages, a model or a ticket, or identify a
decision in the JSON."""
CONFIG = """\
mode: loud
langauge: de
enabled: 3.5
opt_out_label: ""
language: german
limits:
  questions: 9
  claim_from: -1
  runs_per_day: many
labels: 4
ignore_paths: ["!x", "*/*/*/*/*/*", 1]
bots: {a: b}
digest:
  issue: 0
"""
OTHER_FAULTS = (
    "a: [b",
    "a: &x 1\nb: *x",
    "mode: label\nmode: label",
    "- 1",
    "a: " + "[" * 9 + "]" * 9,
    "x" * (MAX_TEXT + 1),
)


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are neither documentation nor recorded."""
    tree, skipped = ast.parse(path.read_text(encoding="utf-8")), set[int]()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", []) if isinstance(getattr(node, "body", None), list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                skipped.add(id(statement.value))
        if isinstance(node, ast.Call) and _RECORDED.fullmatch(ast.unparse(node.func)):
            skipped.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def sentences_of(text: str) -> Iterator[str]:
    """Yield the parts of a text between mark-up and placeholders that are words of a sentence."""
    for piece in _MARK_UP.split(text):
        words = piece.strip(" ,;:.?")
        if _WORDS.search(words):
            yield words


def known_words() -> str:
    """Return the English catalogue with one sign in place of each placeholder."""
    return "\x01".join(re.sub(r"\{[a-z.]+\}", "\x00", one.text) for one in catalogue("en").sentences.values())


def modules() -> list[str]:
    return sorted({str(path.relative_to(ROOT)) for pattern in SOURCES for path in ROOT.glob(pattern)})


@pytest.mark.parametrize("module", modules())
def test_every_sentence_of_a_module_that_posts_is_in_the_catalogue(module: str) -> None:
    known, elsewhere = known_words(), ELSEWHERE.get(module, ())
    found = {words for text in texts_of(ROOT / module) for words in sentences_of(text)}
    missing = {one for one in found if one not in known and one[:1].lower() + one[1:] not in known}
    assert {one for one in missing if not one.startswith(elsewhere)} == set()


def test_every_module_that_posts_or_answers_is_read() -> None:
    posts = re.compile(r"poster(?:\.put|, budget)|replies\.explain|explain_refusal\(|raise UserError|create_comment\(")
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "bot" / "worker").rglob("*.py")
        # The dispatchers' errors are about the operator's settings.
        if path.parent.name != "dispatch" and posts.search(path.read_text(encoding="utf-8"))
    }
    assert found - set(modules()) == set()


def faults() -> list[str]:
    """Return every kind of fault of a configuration, as it is posted."""
    found = list[str]()
    for text in (CONFIG, *OTHER_FAULTS):
        with pytest.raises(ConfigError) as error:
            read_config(text)
        found += [prose(str(fault)) for fault in error.value.faults]
    return found


def own_words(text: str) -> set[str]:
    """Return the English words outside code, which a translation must not repeat."""
    return set(re.findall(r"\b(?:line|must|unknown|key|appears|allowed|of|is|the|to)\b", re.sub(r"`[^`]*`", "", text)))


@pytest.mark.parametrize("language", OTHERS)
def test_faults_of_the_configuration_are_posted_in_the_language(language: str) -> None:
    assert len(faults()) > 15
    for fault in (one for one in faults() if "not YAML" not in one):
        for end in (
            "Until it is fixed, the last valid version applies.",
            "Until it is fixed, triage writes nothing else here.",
        ):
            english = f"For maintainers: `{PATH}`, {fault}{'' if fault.endswith('?') else '.'} {end}"
            told = translate(english, language)
            assert read_back(told, language) == english
            assert own_words(told) == set(), told
            assert sorted(re.findall("`[^`]+`", told)) == sorted(re.findall("`[^`]+`", english))
    both = f"For maintainers: `{PATH}`, {'; '.join(faults()[:3])}. Until it is fixed, the last valid version applies."
    assert own_words(translate(both, language)) == set()


@pytest.mark.parametrize("language", OTHERS)
def test_limits_and_guards_are_posted_in_the_language(language: str) -> None:
    codes = [*ceilings._LIMITS, *(f"{kind}.{what}" for kind in ceilings._WHOSE for what in ceilings._WORDS)]
    texts = [f"- {describe_limit(code)}" for code in codes]
    for code in codes[len(ceilings._LIMITS) :]:
        kind, _, what = code.partition(".")
        reached = ReachedCeiling(kind, what, 1_500_000)  # type: ignore[arg-type]
        texts += [f"Not done: {reached}.", f"Not now: {reached}. The run starts when the limit allows."]
        texts.append(f"- Rules judged instead of the model: {reached}")
    texts += [prose(meaning(guard.name)) for guard in GUARDS]
    texts += [f"Limits reached: {describe_limit('run.calls')}; {describe_limit('model.pace')}."]
    for text in texts:
        told = translate(text, language)
        assert read_back(told, language) == text
        assert not {"the", "of", "is", "for"} & set(told.split()), told


def test_the_samples_contain_every_kind_of_fault() -> None:
    assert yaml.safe_load(CONFIG)["limits"]["questions"] == 9
    shown = " ".join(faults())
    for words in ("did you mean", "must be true or false", "at most", "at least", "must not be empty", "appears twice",
                  "aliases", "nested too deeply", "longer than", "language code", "entry 1", "whole"):  # fmt: skip
        assert words in shown
