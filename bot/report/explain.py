"""The explanation of a report: what was gathered, decided, overruled, dropped, scored, retried and spent."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.report.account import Step, citation_check, dropped_claims, retry_reasons, scores, spending, step
from bot.report.comment.folds import fold
from bot.report.document import Result
from bot.report.sanitise import block, cell, code, prose
from bot.report.words import cut
from nodes.evidence import NumberedEvidence
from nodes.guards import meaning
from nodes.state import TraceEntry

LIMIT = 60_000
"""Maximum number of characters, out of the 65,536 that a comment may have."""
ROWS = 60
"""Maximum number of rows of a table."""
_SECTION = 14_000
_REASON_WORDS = 25
_CITED = re.compile(r"\bE\d{1,6}\b")


@dataclass(frozen=True, slots=True)
class Account:
    """A finished run with the evidence that it gathered."""

    run: int
    sha: str
    brain: str
    config_hash: str
    """Identifies the configuration of the run; empty if there was none."""
    result: Result
    evidence: tuple[NumberedEvidence, ...] = ()


def render_markdown(account: Account) -> str:
    """Render the explanation as Markdown for a comment: one line, then one folded section per topic.

    The result does not depend on the time.
    """
    words = _Words(account)
    parts = [words.head()]
    for title, lines in words.sections():
        part = fold(title, words.within(lines, min(_SECTION, LIMIT - sum(map(len, parts)) - 200)))
        parts += [part] if part else []
    return "\n\n".join(parts)


def render_text(account: Account) -> str:
    """Render the explanation for a terminal, with headings."""
    words = _Words(account)
    parts = [words.head()]
    parts += [f"## {title}\n\n" + "\n".join(lines) for title, lines in words.sections() if lines]
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class _Words:
    """The sections of the explanation."""

    account: Account

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        result, open_to_all = self.account.result, self.account.result.report.kind != "security"
        yield "Path through the graph", self._path(result.trace, reasons=open_to_all)
        yield "Guards that fired", self._guards(result.trace) or ["None: no rule overruled a decision."]
        if open_to_all:
            yield "Evidence", self._evidence()
            yield "Claims dropped in checking", self._dropped(result)
        yield "Evaluation", self._evaluation(result)
        yield "Retries, and why", self._retries(result) or ["None: the first draft was accepted."]
        yield "Model, lookups and cost", self._cost(looks=open_to_all)
        if open_to_all:
            yield "Questions", self._questions(result)
            yield "Ticket draft", _ticket(result)

    def head(self) -> str:
        account = self.account
        metrics, report = account.result.metrics, account.result.report
        usage = metrics.usage
        tokens = usage.input_tokens + usage.output_tokens
        cost = f"{usage.calls} model calls, {tokens} tokens" if usage.calls else "no model"
        judged = f"judged by {code(account.brain)} ({cost})"
        history = " → ".join(f"{value:.0%}" for value in metrics.confidence_history[-8:]) or "none"
        config = f" · configuration {code(account.config_hash)}" if account.config_hash else ""
        sentences = (
            f"Run {account.run} read commit {code(account.sha[:12])}, {judged}{config}.",
            f"Confidence of its drafts: {history}; of the report: {report.confidence:.0%}.",
            f"Claims dropped: {metrics.claims_dropped}.",
        )
        return " ".join(sentences)

    def _path(self, trace: Iterable[TraceEntry], *, reasons: bool) -> list[str]:
        rows = [
            (
                str(item.round),
                code(item.node),
                prose(item.decision),
                item.confidence,
                code(item.guard),
                code(item.judged_by),
                prose(self._reason(item)),
            )
            for item in (step(entry, reasons=reasons) for entry in trace)
        ]
        return self._table(("Round", "Node", "Decision", "Confidence", "Guard", "Judged by", "Reason"), rows)

    def _reason(self, one: Step) -> str:
        failed = f"failed: {one.error}" if one.error else ""
        return "; ".join(cut(text, _REASON_WORDS) for text in (one.reason, failed) if text)

    def _guards(self, trace: Iterable[TraceEntry]) -> list[str]:
        """Return one line per guard that changed a decision, with the number of times."""
        fired = Counter(entry.guard for entry in trace if entry.guard)
        times = {name: f", {count} times" if count > 1 else "" for name, count in fired.items()}
        return [f"- {code(name)}{often}: {prose(meaning(name))}" for name, often in times.items()]

    def _evidence(self) -> list[str]:
        report = self.account.result.report
        texts = " ".join((report.root_cause or "", *report.ruled_out))
        cited = {
            *_CITED.findall(texts),
            *(s.evidence for s in report.suspects),
            *(c.evidence for c in report.suspect_changes),
        }
        rows = [
            (
                item.id,
                item.evidence.kind,
                code(str(item.evidence.locator)),
                f"{item.evidence.score:.2f}",
                "yes" if item.id in cited else "",
                code(item.evidence.quote.strip().partition("\n")[0][:80]),
                prose("; ".join(item.evidence.reasons[:2])[:160]),
            )
            for item in self.account.evidence
        ]
        return self._table(("", "Kind", "Where", "Score", "Cited", "Begins", "Why"), rows)

    def _dropped(self, result: Result) -> list[str]:
        """Return what the citation check removed from the last draft, and how much it removed from all drafts."""
        lines = [f"- {prose(line)}" for line in dropped_claims(result.report.citation_audit)]
        return [citation_check(result), *(["", *lines] if lines else [])]

    def _evaluation(self, result: Result) -> list[str]:
        review = result.report.review_message
        return [
            *self._table(("", "Weight", "Score"), scores(result.report.evaluation)),
            *(["", f"For review: {prose(review)}"] if review else []),
        ]

    def _retries(self, result: Result) -> list[str]:
        rows = [
            (str(retry.iteration), ", ".join(retry_reasons(retry)), f"{retry.confidence:.0%}")
            for retry in result.metrics.retry_reasons
        ]
        return self._table(("Round", "Rejected because", "Confidence"), rows)

    def _cost(self, *, looks: bool) -> list[str]:
        account = self.account
        pairs = spending(account.result, brain=account.brain, config_hash=account.config_hash)
        looked = [look for entry in account.result.trace for look in step(entry, reasons=looks).looks]
        return [
            *(f"- {label}: {prose(value)}" for label, value in pairs),
            *(f"- Looked up: {prose(look)}" for look in looked),
        ]

    def _questions(self, result: Result) -> list[str]:
        return [
            f"- {prose(asked.question)} — {prose(asked.answer[:200]) if asked.answer else 'no answer'}"
            for asked in result.questions
        ]

    def _table(self, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
        if not rows:
            return []
        lines = [f"| {' | '.join(map(cell, row))} |" for row in rows[:ROWS]]
        more = [f"\n… and {len(rows) - ROWS} more"] if len(rows) > ROWS else []
        return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines, *more]

    def within(self, lines: list[str], room: int) -> str:
        """Return as many whole lines as fit, and state how many are omitted."""
        kept: list[str] = []
        for line in lines:
            room -= len(line) + 1
            if room < 0:
                return "\n".join((*kept, "", f"… and {len(lines) - len(kept)} more")) if kept else ""
            kept.append(line)
        return "\n".join(kept)


def _ticket(result: Result) -> list[str]:
    ticket = result.report.ticket
    fields = "\n".join(f"{name}: {value}" for name, value in ticket.fields.items())
    return [block(f"{ticket.title}\n\n{fields}\n\n{ticket.body}", "markdown")] if ticket.title else []
