"""Triage issues whose fixes are known, with scripted models: one knows the fix, another is always wrong.

    python -m benchmarks.models --repos CLONES --data FILE[=N] [FILE[=N] …]

FILE: JSON lines with id, repo, base_commit, issue, gold_files; N of them, evenly spread. CLONES contains one clone per
repository in a folder named owner+name; the clone may be one level down, in repo. TRIAGE_DATA_DIR caches parsed files.

The models answer over HTTP like an OpenAI-compatible server. The figures measure the stages, not a real model:

- oracle: reads a fixed file if one is listed and prefers it; its confidence is 0.9, or 0.2 if none is listed
- wrong: prefers the first listed file that was not fixed, from its listed lines; its confidence is 0.95
- thorough: the same, but it reads the file before; apart from its file it does all that the oracle does
- fluent: the same, with a cause of two sentences that relate a word of the code to those of the report's title
- eloquent: the same, with three such sentences about different lines, several words of each
- orator: the same, each in its own words, about the lines of code that have most words of the title
- partisan: the same, but as a critic it approves nothing but its own cause; only outcomes tell it from a right reader
- objector: the oracle with a critic that rejects everything

All name what the lines contain that they cite, and all but the objector approve what they wrote. Those that are wrong
approve what contradicts it, too, all but the partisan.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.claims import _read
from benchmarks.ranking.examples import clone_with
from bot.runs.context import triage_blind
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.calls.request import counted
from nodes.brains.fence import estimate
from nodes.brains.llm import LLMBrain
from nodes.report import TriageReport
from nodes.search.engine import Engine
from nodes.search.facts.names.read_here import is_code
from nodes.search.types import Query
from tests.servers.endpoints import ANSWERS, answer
from tests.servers.model_server import ModelServer, Reply, Request, fields_of, says, serve

WHO = ("oracle", "wrong", "thorough", "fluent", "eloquent", "orator", "partisan", "objector")
_WRONG = ("wrong", "thorough", "fluent", "eloquent", "orator", "partisan")
_FORMS = (
    "With {subject}, {a} gets {b} before anything checks it.",
    "There {a} is set from {b}, so what the caller needs is lost.",
    "Afterwards {a} never sees {b} again, as reported of {subject}.",
)
_IN_OWN_WORDS = ("oracle", "orator", "partisan", "objector")
"""Those that write these sentences, each about another line."""
_NO_NAMES = frozenset("class const elif else from function import public return self static this void while".split())
_SENTENCES = {"wrong": (0, 0), "thorough": (0,), "fluent": (0, 0)}
"""The lines that each is about, of those that have words; the others write about the first three."""
_FILE = re.compile(r"^(E\d+) (\S+)$", re.MULTILINE)
_PLACE = re.compile(r"^(E\d+)(?: code)? (\S+?):\d+-\d+", re.MULTILINE)
_TITLE = re.compile(r"<<<DATA issue \w+\n(.{1,160})")
SURE = 0.65


@dataclass
class Scripted:
    """A model that knows the fix of one issue."""

    who: str
    fixed: frozenset[str]
    listed: list[tuple[str, ...]] = field(default_factory=list)
    """The files of each list that it was shown."""

    def __call__(self, request: Request) -> Reply:
        """Answer a request of any role."""
        prompt = "\n".join(str(message["content"]) for message in request["messages"])
        if "You are the code reader" in prompt:
            return says(self._submission(prompt))
        if "You are the writer" in prompt:
            return says(self._report(prompt))
        if "You are the critic" in prompt:
            objects = {"approved": False, "gaps": ["No evidence shows the value that fails."]}
            # The wrong ones approve whatever they are asked; only a partisan approves nothing but its own cause.
            compared = {"against_other": "[E1] decides it.", "other_holds": self.who in _WRONG[:-1]}
            answers = objects if self.who == "objector" else compared
            return says({**ANSWERS["critic"], **answers})
        if "You are the supervisor" in prompt:
            legal = fields_of(request)["next_node"].get("enum", ())
            node = next(name for name in ("critic", "codebase_search", "writer", *legal) if name in legal)
            return says({**answer(request), "next_node": node})
        # The investigator adds no terms, so the search uses the issue's own text only.
        return says({**ANSWERS["investigator"], "search_terms": [], "problem": "It fails.", "hypothesis": ""})

    def _submission(self, prompt: str) -> dict[str, Any]:
        """Submit the first lines of the preferred files; all but one ask for the first of them before."""
        shown = {path: name for name, path in _FILE.findall(prompt)}
        if not self.listed or set(shown) - set(self.listed[-1]):
            self.listed.append(tuple(shown))
        known = list(shown)
        if self.who in ("oracle", "objector") and not self.fixed & set(shown):
            known += sorted(self.fixed)[:3]
        chosen = self._preferred(known)
        unread = [path for path in chosen[:1] if f"read {path}" not in prompt]
        if self.who != "wrong" and unread:
            return {"calls": [{"tool": "read", "what": "", "path": unread[0]}]}
        chosen = [path for path in chosen if path in shown]
        about = _SENTENCES.get(self.who, (0, 1, 2))
        cause = [self._cause(prompt, shown[path], number) for path in chosen[:1] for number in about]
        places = [{"evidence": shown[path], "why": ""} for path in chosen]
        return {"cause": cause, "places": places, "confirm": "", "confidence": self._number(chosen)}

    def _cause(self, prompt: str, name: str, number: int) -> dict[str, Any]:
        """Return a sentence about one of the lines that are shown, with words of that line."""
        title = next(iter(_TITLE.findall(prompt)), "")
        subject = " and ".join(dict.fromkeys(re.findall(r"[^\W\d_]{4,}", title)))
        lines = list(_lines(prompt.rpartition(f"\n{name} ")[2][:6_000]))
        if self.who in _IN_OWN_WORDS:
            wanted = set(re.findall(r"\w{4,}", title.lower()))
            code = [(line, text, names) for line, text, names in lines if is_code(text) and len(names) > 1]
            code.sort(key=lambda item: -sum(word in item[1].lower() for word in wanted))
            if number < len(code):
                line, _, names = code[number]
                one, other = sorted(names, key=lambda word: word.lower() in wanted)[:2]
                text = _FORMS[number].format(subject=subject or "it", a=one, b=other)
                return {"text": text[:300], "evidence": [f"{name}:{line}"]}
            return {"text": "This code decides it.", "evidence": [name]}
        least = 1 if self.who in _SENTENCES else 2
        named = [(line, re.findall(r"[^\W\d]\w{3,}", text)) for line, text, _ in lines]
        line, words = next(((line, words) for line, words in named[number:] if len(words) >= least), ("", []))
        if not words:
            return {"text": "This code decides it.", "evidence": [name]}
        # Some of those that are wrong pretend to relate it to the report.
        subject = "it" if self.who in ("wrong", "thorough") else subject or "it"
        shown = " and ".join(words[-1:] if self.who in _SENTENCES else words[:3])
        return {"text": f"This code of {shown} decides {subject}."[:300], "evidence": [f"{name}:{line}"]}

    def _report(self, prompt: str) -> dict[str, Any]:
        shown = {path: name for name, path in reversed(_PLACE.findall(prompt))}
        chosen = self._preferred([path for _, path in _PLACE.findall(prompt)])
        places = [{"evidence": shown[path], "why": ""} for path in chosen]
        cause = f"This code decides it [{places[0]['evidence']}]." if places else ""
        report = {**ANSWERS["writer"], "verdict": cause, "root_cause": cause, "suspects": places}
        return {**report, "confidence": self._number(chosen), "how_to_confirm": "", "severity_reason": ""}

    def _preferred(self, paths: Sequence[str]) -> list[str]:
        """Return five files of a list, ordered by the preference of this model."""
        once = list(dict.fromkeys(paths))
        if self.who in _WRONG:
            return [path for path in once if path not in self.fixed][:5]
        return sorted(once, key=lambda path: path not in self.fixed)[:5]

    def _number(self, chosen: Sequence[str]) -> float:
        if self.who in _WRONG:
            return 0.95
        return 0.9 if chosen and chosen[0] in self.fixed else 0.2


@dataclass(frozen=True)
class Run:
    """One triage with a scripted model."""

    id: str
    who: str
    search: float
    """The search's own confidence."""
    listed: bool
    """A fixed file was in the first list of files."""
    most: int
    """Number of files in that list."""
    first: bool
    """The first place of the report was fixed."""
    claims: bool
    confidence: float
    doubts: tuple[str, ...]
    calls: int
    tokens: int
    """Estimated input tokens of all requests."""
    repeated: int
    """Those of them in a prefix that an earlier request of the run has in common."""
    later: int
    """Estimated input tokens of all requests but the first."""
    status: str
    by: str
    seconds: float


def _lines(shown: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the numbered lines of an answer, each with its names and those of its function."""
    owner = ""
    for line, inside, text in re.findall(r"^\s*(\d+)(?: in ([^:\s]+))?: (.*)$", shown, re.MULTILINE):
        started = re.match(r"\s*(?:class|def|fn|func|function) (\w+)", text)
        owner = inside or (started[1] if started else owner)
        names = re.findall(r"[^\W\d]\w{3,}", f"{text} {owner}")
        yield line, text, [name for name in dict.fromkeys(names) if name not in _NO_NAMES]


def main() -> None:
    """Run the triages and print the results."""
    options = _options()
    rows = [row for given in options.data for row in _read(given)]
    runs = list(asyncio.run(_all(rows, options.repos, options.cache, options.who)))
    if options.json:
        print(json.dumps([asdict(one) for one in runs], indent=1))
    else:
        print("\n".join(_table(runs, options.who)))


async def _all(rows: Sequence[dict[str, Any]], clones: Path, cache: Path, who: Sequence[str]) -> list[Run]:
    runs: list[Run] = []
    engines: dict[Path, Engine] = {}
    with serve() as server:
        for number, row in enumerate(sorted(rows, key=lambda row: (row["repo"], row["id"])), 1):
            print(f"\r{number}/{len(rows)} {row['id'][:50]:<50}", end="", file=sys.stderr, flush=True)
            clone = clone_with(clones, row["repo"], row["base_commit"])
            if clone is None:
                print(f"\nleft out: {row['id']}: no clone has its commit", file=sys.stderr)
                continue
            engines = {clone: engines.get(clone) or Engine(clone, cache, cache_bytes=2_000_000_000)}
            runs += [await _one(row, name, engines[clone], server) for name in who]
    print(file=sys.stderr)
    return runs


async def _one(row: dict[str, Any], who: str, engine: Engine, server: ModelServer) -> Run:
    model = Scripted(who, frozenset(row["gold_files"]))
    server.script = model
    server.requests.clear()
    models = Models(ModelSettings(base_url=server.url, max_retries=0, calls_per_minute=1e6))
    title, _, body = row["issue"].partition("\n")
    started = time.perf_counter()
    try:
        blind = await triage_blind(engine, title, body, row["base_commit"], LLMBrain(models))
    finally:
        await models.aclose()
    report: TriageReport = blind.result.report
    search = engine.survey(Query(title, body, limit=10), engine.commit(row["base_commit"])).confidence
    first = model.listed[0] if model.listed else ()
    return Run(
        id=row["id"],
        who=who,
        search=search,
        listed=bool(model.fixed & set(first)),
        most=len(first),
        first=bool(report.suspects) and report.suspects[0].path in model.fixed,
        claims=report.root_cause is not None,
        confidence=report.confidence,
        doubts=report.doubts,
        calls=len(server.requests),
        tokens=sum(_tokens(request) for request in server.requests),
        repeated=repeated_tokens(server.requests),
        later=sum(_tokens(request) for request in server.requests[1:]),
        status=report.status,
        by=report.written_by,
        seconds=time.perf_counter() - started,
    )


def _tokens(request: Request) -> int:
    return counted([(turn["role"], str(turn["content"])) for turn in request["messages"]])


def repeated_tokens(requests: Sequence[Request]) -> int:
    """Return the tokens of the prefixes that requests share, byte for byte, with an earlier request of the same run.

    A provider's prompt cache can serve these tokens, unless the provider puts the response schema before the prompt.
    """
    texts = [_bytes_of(request) for request in requests]
    longest = (
        max((_common(text, before) for before in texts[:number]), default=0) for number, text in enumerate(texts)
    )
    return sum(estimate(text[:length]) for text, length in zip(texts, longest, strict=True))


def _common(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _bytes_of(request: Request) -> str:
    return "".join(f"<{turn['role']}>\n{turn['content']}\n" for turn in request["messages"])


def _table(runs: Sequence[Run], who: Sequence[str]) -> Iterator[str]:
    for name in who:
        mine = [one for one in runs if one.who == name]
        searched = [one for one in mine if one.most]
        claims = [one for one in mine if one.claims]
        above = [one for one in claims if one.confidence > one.search + 1e-6]
        yield f"## {name}: {len(mine)} issues, {len(searched)} of them searched"
        yield f"fixed file in the first list      {_share(searched, lambda one: one.listed)}"
        yield f"first place of the report fixed   {_share(mine, lambda one: one.first)}"
        yield f"reports that claim a cause        {_share(mine, lambda one: one.claims)}"
        yield f"… of a fixed file                 {_share(claims, lambda one: one.first)}"
        yield f"… above the search's confidence   {len(above)}"
        yield f"reports that state a doubt        {_share(mine, lambda one: bool(one.doubts))}"
        yield f"written by rules                  {sum(one.by == 'rules' for one in mine)}"
        repeated, later = sum(one.repeated for one in mine), sum(one.later for one in mine)
        yield f"input tokens after the first call  {repeated / max(later, 1):.1%} begin an earlier request"
        for label, part in (
            ("search sure", [one for one in searched if one.search >= SURE]),
            ("search unsure", [one for one in searched if one.search < SURE]),
        ):
            calls, tokens = [one.calls for one in part], [one.tokens for one in part]
            if part:
                usual = f"{median(calls):.0f} calls, {median(tokens):,.0f} tokens"
                yield f"{label:<33} {len(part)} issues: {usual} (most {max(calls)}, {max(tokens):,})"
        yield ""


def _share(runs: Sequence[Run], holds: Callable[[Run], bool]) -> str:
    part = sum(map(holds, runs))
    return f"{part} of {len(runs)} ({100 * part / len(runs):.1f} %)" if runs else "–"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, help="folder of clones")
    parser.add_argument("--data", nargs="+", required=True, metavar="FILE[=N]", help="issues as JSON lines")
    parser.add_argument("--who", nargs="+", choices=WHO, default=WHO, help="the scripted models to run")
    parser.add_argument("--json", action="store_true", help="every run instead of the table")
    kept = Path(os.environ.get("TRIAGE_DATA_DIR") or tempfile.gettempdir()) / "repos"
    parser.add_argument("--cache", type=Path, default=kept, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
