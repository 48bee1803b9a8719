"""Messages are located where the code builds them, in every language."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bot.report.comment.folds import sentence_without_path
from nodes.search.facts.output.literals import literals_at
from nodes.search.facts.output.messages import match_parts, match_start
from nodes.search.git import Repository
from tests.search.facts.finding import facts_of, of_kind, verify
from tests.support.growth import assert_cheap
from tests.support.repositories import make_repository

PYTHON = "def check(name):\n    if not name:\n        raise ValueError('the option %s is not a known section' % name)\n"
CASES = [
    pytest.param("a.py", PYTHON, "ValueError: the option 'x y' is not a known section", 3, id="python-percent"),
    pytest.param(
        "a.py",
        "def load(path, kind):\n    if kind:\n        raise "
        "LoadError(\n            f'cannot read the {kind} header of '\n"
        "            f'file {path!r} in strict mode'\n        )\n",
        "LoadError: cannot read the tar header of file 'x.bin' in strict mode",
        4,
        id="python-adjacent-f-strings",
    ),
    pytest.param(
        "a.py",
        "def load(zone):\n    if zone:\n        assert (\n            zone.rank\n        ), 'the zone hasn\\'t got a known rank'\n",
        "AssertionError: the zone hasn’t got a known rank",
        5,
        id="python-assert-over-lines-and-another-apostrophe",
    ),
    pytest.param(
        "a.js",
        "export function parse(text) {\n  if (!text) {\n"
        "    throw new TypeError(`Expected a date string but got ${typeof text} instead`)\n  }\n}\n",
        "Uncaught TypeError: Expected a date string but got number instead",
        3,
        id="javascript-template",
    ),
    pytest.param(
        "a.ts",
        "export function parse(text: string): void {\n  if (!text) {\n"
        "    throw new Error('Plugin ' + text +\n      ' was registered more than once')\n  }\n}\n",
        "Error: Plugin relative was registered more than once",
        4,
        id="typescript-plus",
    ),
    pytest.param(
        "a.go",
        'package a\n\nfunc dial(target string) error {\n\tif target == "" {\n'
        '\t\treturn fmt.Errorf("transport: failed to resolve target %q in time", target)\n\t}\n\treturn nil\n}\n',
        'transport: failed to resolve target "localhost:80" in time',
        5,
        id="go-errorf",
    ),
    pytest.param(
        "src/a.rs",
        "pub fn open(path: &str) {\n    if path.is_empty() {\n"
        '        panic!("search path {} is not a directory", path);\n    }\n}\n',
        "thread 'main' panicked: search path /tmp/x is not a directory",
        3,
        id="rust-panic",
    ),
    pytest.param(
        "A.java",
        "class A {\n  void read(int c) {\n    if (c < 0) {\n      throw new IllegalStateException("
        '"Unexpected character (" + c + "): was expecting comma to separate entries");\n    }\n  }\n}\n',
        "java.lang.IllegalStateException: Unexpected character (125): was expecting comma to separate entries",
        4,
        id="java-plus",
    ),
    pytest.param(
        "a.c",
        "int load(FILE *f) {\n  if (!f) {\n"
        '    fprintf(stderr, "zip: cannot allocate %zu bytes for '
        'the window\\n", n);\n    return 1;\n  }\n  return 0;\n}\n',
        "zip: cannot allocate 4096 bytes for the window",
        3,
        id="c-fprintf",
    ),
    pytest.param(
        "a.cpp",
        "void run(int n) {\n  if (n > 3) {\n"
        '    std::cerr << "No test cases matched " << n << " filters given";\n  }\n}\n',
        "No test cases matched 7 filters given",
        3,
        id="cpp-stream",
    ),
    pytest.param(
        "A.cs",
        "class A {\n  void Load(string key) {\n    if (key == null) {\n"
        '      throw new ArgumentException($"The setting {key} must be given once");\n    }\n  }\n}\n',
        "System.ArgumentException: The setting Port must be given once",
        4,
        id="csharp-interpolation",
    ),
    pytest.param(
        "a.rb",
        "class A\n  def load(name)\n    unless name\n"
        '      raise ArgumentError, "unknown adapter #{name} for the primary database"\n    end\n  end\nend\n',
        "ArgumentError: unknown adapter pgsql for the primary database",
        4,
        id="ruby-interpolation",
    ),
    pytest.param(
        "a.php",
        "<?php\nfunction load($name) {\n    if (!$name) {\n"
        "        throw new Exception('Route ' . $name . ' has no matching handler');\n    }\n}\n",
        "PHP Fatal error: Uncaught Exception: Route home has no matching handler in /srv/a.php",
        4,
        id="php-dot",
    ),
    pytest.param(
        "A.kt",
        "class A {\n  fun load(key: String) {\n    if (key.isEmpty()) {\n"
        '      throw IllegalArgumentException("The column $key has no matching type")\n    }\n  }\n}\n',
        "IllegalArgumentException: The column id has no matching type",
        4,
        id="kotlin-interpolation",
    ),
]

HOLES = [
    pytest.param("a.py", "raise E('the %(zone)-8s table is not readable' % x)", "the UTC table is not readable", id="named"),
    pytest.param("a.py", "raise E(f'the {zone!r:>8} table is not readable')", "the 'UTC' table is not readable", id="f"),
    pytest.param("a.py", "raise E('the {0} table is not readable'.format(x))", "the UTC table is not readable", id="format"),
    pytest.param("a.js", "throw new E(`the ${f({a: 1})} table is not readable`)", "the UTC table is not readable", id="js"),
    pytest.param("a.ts", "throw new E(`the ${z ? `${z}` : ''} table is not readable`)", "the UTC table is not readable", id="nested"),
    pytest.param("a.rb", "raise format('the %<zone>s table is not readable', x)", "the UTC table is not readable", id="ruby"),
    pytest.param("a.rb", "raise 'the %{zone} table is not readable' % x", "the UTC table is not readable", id="ruby-name"),
    pytest.param("a.swift", 'fatalError("the \\(f(x)) table is not readable")', "the UTC table is not readable", id="swift"),
    pytest.param("a.php", 'die("the $zone->name table is not readable");', "the UTC table is not readable", id="php"),
    pytest.param("a.scala", 'throw new E(s"the ${z.id} table is not readable")', "the UTC table is not readable", id="scala"),
    pytest.param("a.kt", 'error("the $zone table is not readable")', "the UTC table is not readable", id="kotlin"),
    pytest.param("a.go", 'log.Fatalf("the %[1]s table is not readable", x)', "the UTC table is not readable", id="go"),
    pytest.param("a.go", 'return fmt.Errorf("the table of %w is not readable", err)', "the table of UTC is not readable", id="go-cause"),
    pytest.param("a.cpp", 'fail(tr("the %1 table is not readable").arg(x));', "the UTC table is not readable", id="qt"),
    pytest.param("a.ps1", 'Write-Error "the $($x.Name) table is not readable"', "the UTC table is not readable", id="powershell"),
    pytest.param("A.java", 'fail(String.format("the %1$s table is not readable", x));', "the UTC table is not readable", id="java"),
    pytest.param("A.java", 'log.error("the {} table is not readable", x);', "the UTC table is not readable", id="slf4j"),
    pytest.param("A.java", 'fail(s.append("the zone ").append(x).append(" is not readable"));', "the zone UTC is not readable", id="append"),
    pytest.param("a.cpp", "std::cerr << \"the zone \" << '[' << x << \"] is not readable\";", "the zone [UTC] is not readable", id="stream"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "message"), HOLES)
def test_every_kind_of_placeholder_stands_for_a_value(path: str, code: str, message: str):
    (found,) = literals_at(path, [code], 1)
    assert match_parts(found.parts, f"Error: {message}") == message.strip("'")


CUT = [
    pytest.param("```\nValueError: the option 'x' is not a known s...\n```", id="three-dots"),
    pytest.param("I see `the option 'x' is not a known…` only", id="ellipsis"),
    pytest.param(
        "```\n2024-03-01 10:00:00 [worker-1] ERROR ValueError: the option 'x' is not a known se\n```", id="screen"
    ),
]


@pytest.mark.parametrize("body", CUT)
def test_a_message_that_the_report_cuts_off_is_found_by_its_beginning(tmp_path: Path, body: str):
    (found,) = of_kind(facts_of(tmp_path, {"a.py": PYTHON}, "It fails", body), "built_here")
    assert (found.line, found.strong) == (3, True)
    assert found.says.startswith("`check` builds the message that begins with “the option 'x' is not a kn")


@pytest.mark.parametrize(
    ("files", "body"),
    [
        pytest.param({"a.py": PYTHON, "b.py": PYTHON}, CUT[0].values[0], id="not-rare"),
        pytest.param({"a.py": PYTHON}, "```\nValueError: the option 'x' is...\n```", id="too-short"),
        pytest.param({"a.py": PYTHON}, "```\nValueError: the option 'x' is not a good...\n```", id="other-words"),
        pytest.param({"a.py": PYTHON}, "```\nthe option 'x' is not a kn\n```", id="no-mark-and-a-short-line"),
    ],
)
def test_a_short_or_common_beginning_is_not_a_fact(tmp_path: Path, files: dict[str, str], body: object):
    assert of_kind(facts_of(tmp_path, files, "It fails", str(body)), "built_here") == []


def test_an_error_that_wraps_a_cause_outside_the_code_does_not_lead(tmp_path: Path):
    code = (
        "class Zones {\n  void load() {\n    try {\n      read();\n    } catch (IOException e) {\n"
        '      throw new E("the zone table could not be built", e);\n    }\n  }\n}\n'
    )
    trace = (
        "org.acme.E: the zone table could not be built\n\tat org.acme.Zones.load(Zones.java:6)\n"
        "Caused by: java.io.IOException: Stream closed\n\tat java.io.Reader.read(Reader.java:179)\n\t... 2 more\n"
    )
    facts = facts_of(tmp_path, {"org/acme/Zones.java": code}, "It fails", trace)
    assert [fact.strong for fact in of_kind(facts, "raised_here")] == [False]
    assert [fact.strong for fact in of_kind(facts, "built_here")] == [False]
    alone = facts_of(tmp_path, {"org/acme/Zones.java": code}, "It fails", trace.partition("Caused")[0])
    assert [fact.strong for fact in of_kind(alone, "built_here")] == [True]


@pytest.mark.parametrize(("path", "code", "message", "line"), CASES)
def test_a_message_is_found_where_it_is_built(tmp_path: Path, path: str, code: str, message: str, line: int):
    facts = facts_of(tmp_path, {path: code}, "It fails", f"I see this:\n\n```\n{message}\n```\n")
    (found,) = of_kind(facts, "built_here")
    assert (found.path, found.line, found.count, found.strong) == (path, line, 1, True)
    assert found.words is not None
    assert found.words in message


@pytest.mark.parametrize(("path", "code", "message", "line"), CASES)
def test_the_condition_around_a_message_is_found(tmp_path: Path, path: str, code: str, message: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "It fails", f"```\n{message}\n```\n"), "guarded_by")
    assert found.line == next(
        n for n, text in enumerate(code.split("\n"), 1) if text.split()[:1] in (["if"], ["unless"])
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("Beim Start kommt „the option 'x' is not a known section“, warum?", id="german-prose"),
        pytest.param("起動すると `the option 'x' is not a known section` と出ます。", id="japanese-inline"),
        pytest.param("> 2024-03-01 10:00:00,123 ERROR: the option 'x' is not a known section", id="log-line"),
        pytest.param("After the update:\n    the option 'x' is not\n    a known section", id="wrapped"),
    ],
)
def test_a_message_is_found_in_any_position(tmp_path: Path, body: str):
    (found,) = of_kind(facts_of(tmp_path, {"a.py": PYTHON}, "Frage", body), "built_here")
    assert found.line == 3


@pytest.mark.parametrize(
    ("code", "body"),
    [
        pytest.param(
            "def banner():\n    title = 'short test summary info'\n    return title\n",
            "```\n==== short test summary info ====\n```",
            id="a-report-line",
        ),
        pytest.param(
            "def check(x):\n    raise TypeError('object has no attribute')\n",
            "```\nTypeError: object has no attribute 'y'\n```",
            id="a-message-of-the-interpreter",
        ),
        pytest.param(
            "def f():\n    '''Return the name of the section.'''\n    return 1\n",
            "It should return the name of the section.",
            id="a-docstring",
        ),
        pytest.param(
            "def f(x):\n    raise ValueError('%s: %s' % (x, x))\n",
            "```\nValueError: one: two three four\n```",
            id="holes",
        ),
        pytest.param(
            "def check(error):\n    if 'could not find the zone' in error.text:\n        return 1\n",
            "```\nERROR: could not find the zone\n```",
            id="looked-for-in",
        ),
        pytest.param(
            "def check(error):\n    return error.text.startswith('could not find the zone')\n",
            "```\nERROR: could not find the zone\n```",
            id="looked-for-by-a-call",
        ),
        pytest.param(
            "def check(error):\n    if error.text == 'could not find the zone':\n        return 1\n",
            "```\nERROR: could not find the zone\n```",
            id="compared",
        ),
        pytest.param(
            "def close(log, time):\n    log.error(f'Build failed in {time} of the zones')\n",
            "```\nBuild failed in 68ms of the zones\n```",
            id="above-any-error",
        ),
        pytest.param(
            PYTHON,
            "<!-- Example: the option 'x' is not a known section -->\nNothing happens.",
            id="words-of-a-comment",
        ),
    ],
)
def test_a_text_that_resembles_the_message_is_not_a_fact(tmp_path: Path, code: str, body: str):
    assert of_kind(facts_of(tmp_path, {"a.py": code}, "It fails", body), "built_here") == []


def test_a_message_that_four_places_build_is_not_shown_and_one_of_two_does_not_lead(tmp_path: Path):
    files = {f"m{n}.py": PYTHON for n in range(4)}
    message = "```\nValueError: the option 'x' is not a known section\n```"
    assert of_kind(facts_of(tmp_path / "four", files, "It fails", message), "built_here") == []
    two = {name: files[name] for name in ("m0.py", "m1.py")}
    found = of_kind(facts_of(tmp_path / "two", two, "It fails", message), "built_here")
    assert [(fact.count, fact.strong) for fact in found] == [(2, False), (2, False)]


@pytest.mark.parametrize(("line", "unclaimed"), [("except ValueError as error:", True), ("else:", False)])
def test_a_message_of_a_handler_supports_no_claim(tmp_path: Path, line: str, *, unclaimed: bool):
    code = f"def f(x):\n    try:\n        g(x)\n    {line}\n        log.error('Zone cannot be read from the pond: %s', x)\n"
    code = code if unclaimed else code.replace("try:", "if x:")
    body = "```\nZone cannot be read from the pond: bad\n```\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.py": code}, "It fails", body, first=["a.py"]), "built_here")
    assert (found.line, found.unclaimed) == (5, unclaimed)


def test_what_a_program_prints_to_be_pasted_is_no_message_of_the_fault(tmp_path: Path):
    code = "def check():\n    print('No zone is installed from a package')\n"
    for name, found in (("tools/diagnose.py", 0), ("tools/zone_info.py", 1)):
        body = "```\nNo zone is installed from a package\n```\n"
        facts = facts_of(tmp_path / str(found), {name: code, "b.py": "x = 1\n"}, "It hangs", body)
        assert len(of_kind(facts, "built_here")) == found


def test_many_words_that_say_little_are_a_message(tmp_path: Path):
    files = {"a.py": "def load(z):\n    raise ValueError('Size of {} is {}, but it should be {}'.format(z, 1, 2))\n"}
    body = "```python\nload(z)\n# results in ValueError: Size of f(z) is 9, but it should be 2\n```\n"
    (found,) = of_kind(facts_of(tmp_path, files, "Zones are refused", body), "built_here")
    assert (found.line, found.words) == (2, "Size of f(z) is 9, but it should be")


def test_a_message_that_one_function_builds_twice_leads(tmp_path: Path):
    code = "def fetch(x):\n    if x:\n        log.error('RPC ERROR FetchEntry: %s', x)\n    log.error('RPC ERROR FetchEntry: %s', x)\n"
    body = "With no entry:\n[2026-03-01 10:00:00,123] ERROR - RPC ERROR FetchEntry: it has no version\nExpected: a message."
    found = of_kind(facts_of(tmp_path, {"a.py": code}, "It fails", body), "built_here")
    assert [(fact.line, fact.count, fact.strong) for fact in found] == [(3, 2, True), (4, 2, True)]


@pytest.mark.parametrize("begin", ["10:00:00 ", "[2026-03-01T10:00:00Z] ", "ERROR: ", "WARN - "])
def test_three_words_of_a_log_line_suffice_without_mark_up(tmp_path: Path, begin: str):
    code = "def fetch(x):\n    log.error('stale entry dropped: %s', x)\n"
    (found,) = of_kind(
        facts_of(tmp_path / "log", {"a.py": code}, "It fails", f"{begin}stale entry dropped: x"), "built_here"
    )
    assert found.line == 2
    prose = "I see that a stale entry dropped: why?"
    assert of_kind(facts_of(tmp_path / "prose", {"a.py": code}, "It fails", prose), "built_here") == []


def test_a_literal_off_the_trace_is_not_the_place(tmp_path: Path):
    files = {"pkg/a.py": PYTHON, "pkg/b.py": "def run():\n    return go()\n"}
    trace = (
        'Traceback (most recent call last):\n  File "/x/pkg/b.py", line 2, in run\n    return go()\n'
        "ValueError: the option 'x' is not a known section\n"
    )
    facts = facts_of(tmp_path, files, "It fails", trace)
    assert of_kind(facts, "built_here") == []
    assert [fact.path for fact in of_kind(facts, "raised_here")] == ["pkg/b.py"]


def test_hostile_literals_take_little_time():
    lines = ["x = '" + "{" * 50_000, '"' * 3_000, "`" * 3_000, "\\" * 3_000, "'''" + "a b c " * 10_000] * 4
    for path in ("a.py", "a.js", "a.rs", "a.c"):
        for line in range(1, len(lines) + 1):
            assert_cheap(partial(literals_at, path, lines, line), 1.0, (path, line))


def test_a_message_is_compared_in_bounded_time():
    assert match_parts(["a b c"] * 200, "a b c " * 20_000) is not None
    assert match_parts(["a b c", "z"], "a b c " * 20_000) is None


FILE_LEVEL = {
    "python": ("a.py", "import sys\n\nif sys.argv:\n    raise SystemExit('the zone table was not built yet')\n"),
    "javascript": ("a.js", "if (!table) {\n  throw new Error('the zone table was not built yet')\n}\n"),
    "ruby": ("a.rb", "unless TABLE\n  raise 'the zone table was not built yet'\nend\n"),
    "php": ("a.php", "<?php\nif (!$table) {\n    die('the zone table was not built yet');\n}\n"),
}


@pytest.mark.parametrize("language", FILE_LEVEL)
def test_a_message_outside_functions_has_a_sentence_that_begins_with_a_capital(tmp_path: Path, language: str):
    path, code = FILE_LEVEL[language]
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "It fails", "`the zone table was not built yet`"), "built_here")
    said = "The message “the zone table was not built yet” is built in {}, and nowhere else in the project's own code."
    assert found.says == said.format(f"`{path}`")
    assert sentence_without_path(found) == said.format("this file")


def test_a_message_that_another_file_quotes_fails_the_check(tmp_path: Path):
    path, code = FILE_LEVEL["python"]
    files = {path: code}
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", "`the zone table was not built yet`"), "built_here")
    sha = make_repository(tmp_path, {**files, "b.py": "TEXT = 'error: the zone table was not built yet'\n"})
    why = verify(found, Repository.open(tmp_path), sha, "`the zone table was not built yet`")
    assert why == "`b.py` builds it as well"


def test_a_truncated_message_is_compared_in_bounded_time():
    assert_cheap(partial(match_start, ["a b c d e f g"] * 200, "a b c d e f g " * 20_000, 4), 1.0, "repeated")
    assert_cheap(partial(match_start, ["a" * 50_000 + " b"], "a" * 50_000, 4), 1.0, "one word")


LOGS = {
    "logfmt": 'time="2026-01-07T10:00:{n:02}Z" level={level} msg="{message}"',
    "levels": "2026-01-07 10:00:{n:02},123 {upper} [w-1] app.store: {message}",
    "json": '{{"time":"2026-01-07T10:00:{n:02}Z","level":"{level}","msg":"{message}"}}',
}


@pytest.mark.parametrize("form", LOGS)
def test_the_error_of_a_log_counts_and_its_other_lines_do_not(tmp_path: Path, form: str):
    files = {
        "a.py": "def fetch(x):\n    log.error('stale entry dropped from %s', x)\n",
        "b.py": "def work(x):\n    log.info('job took the lock of queue %s', x)\n",
    }
    messages = {"error": "stale entry dropped from shelf9", "info": "job took the lock of queue q1"}
    lines = [
        LOGS[form].format(n=n, level=level, upper=level.upper(), message=messages[level])
        for n in range(40)
        for level in ["error" if n == 20 else "info"]
    ]
    body = "Entries vanish. The log:\n\n```\n" + "\n".join(lines) + "\n```\n"
    (found,) = of_kind(facts_of(tmp_path, files, "Entries vanish", body), "built_here")
    assert (found.path, found.line, found.strong) == ("a.py", 2, True)
    assert found.words is not None
    assert found.words in body


def test_a_message_of_a_fault_needs_no_known_call_and_no_claim_rests_on_it(tmp_path: Path):
    code = 'func list() {\n  display("Unknown download error : \\(error)")\n  display("Known download rows : \\(rows)")\n}\n'
    body = "```\nUnknown download error : row 7\nKnown download rows : row 7\n```"
    (found,) = of_kind(facts_of(tmp_path, {"a.swift": code}, "It fails", body), "built_here")
    assert (found.line, found.strong, found.unclaimed) == (2, True, True)


def test_a_text_that_the_report_quotes_as_a_whole_needs_no_known_call(tmp_path: Path):
    code = 'class A {\n  string F(string verb) {\n    var head = $"The next few zones will be {verb}d:";\n    return head;\n  }\n}\n'
    quoted = of_kind(
        facts_of(tmp_path / "a", {"a.cs": code}, "Typo", '"The next few zones will be installd:"'), "built_here"
    )
    assert [(fact.line, fact.strong, fact.unclaimed) for fact in quoted] == [(3, True, True)]
    plain = facts_of(tmp_path / "b", {"a.cs": code}, "Typo", "The next few zones will be installd: see")
    assert of_kind(plain, "built_here") == []
    alone = facts_of(tmp_path / "c", {"a.cs": code}, "Typo", "It says\n\nThe next few zones will be installd:\n\nhere.")
    assert [(fact.line, fact.strong) for fact in of_kind(alone, "built_here")] == [(3, True)]
    code = 'void f(S name) {\n  HOLD(find(name), "No zone is registered with name: \'" << name << "\'");\n}\n'
    span = facts_of(tmp_path / "d", {"a.cpp": code}, "Typo", "It prints `No zone is registered with name: 'x'` only.")
    assert [(fact.line, fact.strong) for fact in of_kind(span, "built_here")] == [(2, True)]


@pytest.mark.parametrize(("first", "strong"), [("a.cpp", True), ("b.cpp", False)])
def test_a_line_of_a_log_that_informs_leads_on_the_first_file_alone(tmp_path: Path, first: str, strong: bool):
    files = {
        "a.cpp": 'void check() {\n  LogFile.Write(INFO, "card of the zones was checked today");\n}\n',
        "b.cpp": "void show() {\n}\n",
    }
    body = "```\n[0d00h01m00s] 2026-02-06T15:05:13 <INF> [MAIN] card of the zones was checked today\n```"
    (found,) = of_kind(facts_of(tmp_path, files, "Nothing is shown", body, first=[first]), "built_here")
    assert found.strong == strong


def test_a_message_of_the_body_does_not_lead_if_the_title_quotes_another_one(tmp_path: Path):
    files = {"zones.go": 'package zones\n\nfunc read() error {\n\treturn errors.New("the zone is not known here")\n}\n'}
    body = "Other errors are fine:\n\n```\nthe zone is not known here\n```\n"
    titles = ('It fails with "unexpected end of all input"', "It fails with another error")
    strong = [
        of_kind(facts_of(tmp_path / str(at), files, title, body), "built_here")[0].strong
        for at, title in enumerate(titles)
    ]
    assert strong == [False, True]


COMMANDS = [
    pytest.param(
        "setup.sh",
        'unpack() {\n    if ! tar -xzf "$1"; then\n        error_exit "Не удалось распаковать архив выпуска."\n    fi\n}\n',
        "Не удалось распаковать архив выпуска.",
        3,
        id="shell",
    ),
    pytest.param(
        "setup.sh", 'unpack() {\n    [ -f "$1" ] || die -q "no archive of zones at hand"\n}\n',
        "no archive of zones at hand", 2, id="shell-after-a-condition",
    ),
    pytest.param(
        "unpack.rb", 'def unpack(path)\n  log_error "no archive of zones at hand"\nend\n',
        "no archive of zones at hand", 2, id="ruby",
    ),
]  # fmt: skip


INFORMED = (
    "def load(path, kind):\n    logger.info('Loading the zones from %s', path)\n    if kind == 'zone_kind':\n"
    "        return open(path, mode='zone-4-packed')\n"
)


@pytest.mark.parametrize(
    "trace", ["", 'Traceback (most recent call last):\n  File "x.py", line 1, in f\nValueError: no zone\n']
)
def test_what_a_log_informs_about_before_an_error_is_not_what_is_reported(tmp_path: Path, trace: str):
    log = "07/31/2020 16:12:59 - INFO - zones -   Loading the zones from a {'zone_kind': 'zone-4-packed'}\n"
    facts = facts_of(tmp_path, {"a.py": INFORMED}, "It fails", f"{log}\n{trace}")
    assert bool([fact for fact in facts if fact.line and fact.kind != "raised_here"]) == (not trace)


@pytest.mark.parametrize(("path", "code", "message", "line"), COMMANDS)
def test_a_call_without_parentheses_prints_its_message(tmp_path: Path, path: str, code: str, message: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "It stops", f"```\n{message}\n```"), "built_here")
    assert (found.line, found.symbol, found.strong, found.unclaimed) == (line, "unpack", True, False)


@pytest.mark.parametrize(
    "message",
    ["Die Zonen konnte nicht geladen werden", "Impossible de charger les zones", "No se pudo cargar la zona",
     "Não foi possível abrir a zona", "Не удалось открыть файл зоны"],
)  # fmt: skip
def test_a_message_of_a_fault_in_other_languages_needs_no_known_call(tmp_path: Path, message: str):
    code = f"export function load() {{\n  show('{message}')\n}}\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.js": code}, "Zones", f"```\n{message}\n```"), "built_here")
    assert (found.line, found.unclaimed) == (2, True)


LOGGED = "def work(queue):\n    log.info('the worker took the lock of %s', queue)\n"


@pytest.mark.parametrize(("first", "strong"), [("queue.py", True), ("other.py", False)])
def test_a_message_of_progress_is_stated_for_the_first_file_alone(tmp_path: Path, first: str, strong: bool):
    files, body = {"queue.py": LOGGED, "other.py": "X = 1\n"}, "```\n12:00 INFO the worker took the lock of mail\n```"
    facts = of_kind(facts_of(tmp_path, files, "It hangs", body, first=(first, "queue.py")), "built_here")
    assert [(fact.strong, fact.unclaimed) for fact in facts] == [(strong, True)]


def test_a_message_of_a_fault_is_no_progress_whatever_prints_it(tmp_path: Path):
    script = 'case "$1" in\n    *)\n        printf \'Unexpected zone of the pond: %s\\n\' "$1" >&2\n        ;;\nesac\n'
    body = "```\nUnexpected zone of the pond: ''\n```"
    facts = of_kind(facts_of(tmp_path, {"run.sh": script, "b.sh": "x\n"}, "Crash", body, first=("b.sh",)), "built_here")
    assert [(fact.line, fact.strong, fact.unclaimed) for fact in facts] == [(3, True, True)]


EDIT = "def edit(editor):\n    if not editor:\n        raise UserError(f'Editor {editor!r} not found.')\n"


@pytest.mark.parametrize(
    ("title", "body", "found"),
    [
        pytest.param("[Bug] Failed to process zone action", "", True, id="title-behind-a-label"),
        pytest.param("It stops", "It only says:\nFailed to process zone action\n- version: 3", True, id="own-line"),
        pytest.param("It Failed to process zone action", "", False, id="within-a-sentence"),
        pytest.param("It stops", "Then we get this: Failed to process zone action", True, id="after-this"),
    ],
)
def test_a_line_of_prose_that_is_a_message_quotes_it(tmp_path: Path, title: str, body: str, found: bool):
    code = "def run(kind):\n    if not kind:\n        raise ValueError(f'Failed to process {kind} action')\n"
    facts = of_kind(facts_of(tmp_path, {"run.py": code}, title, body), "built_here")
    assert [(fact.words, fact.strong) for fact in facts] == [("Failed to process zone action", True)] * found


@pytest.mark.parametrize(
    ("message", "found"),
    [
        pytest.param("error: Editor 'start' not found.", "Editor 'start' not found", id="with-a-level"),
        pytest.param("Editor 'start' not found", "Editor 'start' not found", id="alone"),
        pytest.param("Editor 'start' and all of its many files not found.", None, id="a-long-value"),
        pytest.param("The Editor 'start' not found.", None, id="within-a-sentence"),
        pytest.param("Editor 'start' not found in path", None, id="more-words"),
    ],
)
def test_a_short_message_counts_as_a_whole(tmp_path: Path, message: str, found: str | None):
    files = {"edit.py": EDIT, "start.py": "COMMAND = 'start'\n"}
    facts = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{message}\n```"), "built_here")
    assert [(fact.words, fact.line, fact.strong) for fact in facts] == ([(found, 3, True)] if found else [])


@pytest.mark.parametrize(
    ("message", "found"),
    [
        pytest.param("Error: unexpected zone 'bc'", "unexpected zone 'bc'", id="in-quotes"),
        pytest.param('unexpected zone: "b/c".', 'unexpected zone: "b/c"', id="in-double-quotes"),
        pytest.param("Error: unexpected zone bc", None, id="without-quotes"),
        pytest.param("Error: unexpected zone 'bc' of a map", None, id="more-words"),
        pytest.param("An unexpected zone 'bc'", None, id="within-a-sentence"),
        pytest.param("Error: the zone 'bc'", None, id="one-word-that-informs"),
        pytest.param("Error: missing zone 'bc'", None, id="a-message-without-a-value"),
        pytest.param("Error: empty zone 'bc'", "empty zone 'bc'", id="a-value-added"),
    ],
)
def test_two_words_before_a_value_in_quotes_are_a_message(tmp_path: Path, message: str, found: str | None):
    texts = {"the": "f'the zone: {zone}'", "missing": "'missing zone'", "empty": "'empty zone ' + repr(zone)"}
    text = next((text for word, text in texts.items() if f"{word} zone" in message), "f'unexpected zone: {zone}'")
    code = f"def parse(zone):\n    if not zone:\n        raise UserError({text})\n"
    files = {"parse.py": code, "bc.py": "BC = 'unexpected'\n"}
    facts = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{message}\n```"), "built_here")
    assert [(fact.words, fact.line, fact.strong) for fact in facts] == ([(found, 3, True)] if found else [])


SUMMARY = (
    "def summary(files, zones):\n    parts = [\n        f'Read {len(files)} zone file(s):',\n"
    "        f'  - {len(zones)} changed zone(s)',\n        f'  - {sum(zones)} lost hour(s)',\n    ]\n"
    "    return '\\n'.join(parts)\n\n\ndef other(zones):\n    return [f'{len(zones)} changed zone(s), all of them']\n"
)


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        pytest.param("Read 3 zone file(s):\n  - 0 changed zone(s)\n  - 7 lost hour(s)\n", ["zones.py", 5], id="all"),
        pytest.param("  - 7 lost hour(s)\n", None, id="one-line-may-be-built-anywhere"),
    ],
)
def test_lines_of_output_that_are_built_side_by_side_need_no_known_call(tmp_path: Path, shown: str, found: object):
    facts = facts_of(tmp_path, {"zones.py": SUMMARY}, "Too many lost hours", f"```\n$ zones sum\n{shown}```\n")
    built = of_kind(facts, "built_here")
    assert ([built[0].path, built[0].line] if built else None) == found
    assert [(fact.words, fact.strong, fact.unclaimed) for fact in built] == (
        [("Read 3 zone file(s): - 0 changed zone(s) - 7 lost hour(s)", True, True)] if found else []
    )


@pytest.mark.parametrize("error", ["", "TypeError: x is not iterable\n    at load (/srv/other/a.js:1:2)\n"])
def test_a_deprecation_leads_only_if_nothing_failed(tmp_path: Path, error: str):
    code = 'console.warn("The zones option is deprecated and will be removed soon.");\n'
    body = f"```\nThe zones option is deprecated and will be removed soon.\n{error}```\n"
    facts = facts_of(tmp_path, {"src/zones.js": code}, "It stops", body)
    assert bool(of_kind(facts, "built_here")) is not bool(error)


@pytest.mark.parametrize(("after", "is_shown"), [("", True), ("\nSee you soon.", False)])
def test_a_block_that_is_a_text_and_nothing_else_shows_it(tmp_path: Path, after: str, *, is_shown: bool):
    code = 'fn text() -> String {\n    format!(\n        "The zone is quite small ({w}x{h}).\\n\\\n         Take {m} of it."\n    )\n}\n'
    body = f"```text\nThe zone is quite small (119x23).\nTake 80 of it.{after}\n```\n"
    facts = of_kind(facts_of(tmp_path, {"src/zones.rs": code}, "It stops", body), "built_here")
    assert [fact.line for fact in facts] == [3] * is_shown


RUN = """def compare(first, then):
    if first != then:
        raise ZoneError(
            f"INTERNAL: {about()} made different zones in the second"
            " pass over all files.  Please tell us about it."
        )
"""


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Zones 1.2 made different zones in the second pass over all files", True),
        ("Zones 1.2 made different zones in the second", False),
    ],
)
def test_a_long_part_of_a_message_is_enough(tmp_path: Path, title: str, *, found: bool):
    facts = of_kind(facts_of(tmp_path, {"a.py": RUN}, title), "built_here")
    words = "made different zones in the second pass over all files"
    assert [(fact.words, fact.symbol) for fact in facts] == [(words, "compare")] * found


def test_a_long_part_of_a_text_that_nothing_prints_is_no_message(tmp_path: Path):
    code = 'HELP = "It made different zones in the second pass over all files. Please tell us."\n'
    title = "It says that it made different zones in the second pass over all files"
    assert of_kind(facts_of(tmp_path, {"a.py": code}, title), "built_here") == []


def test_a_text_of_a_file_of_texts_is_shown_by_the_code_that_uses_its_key(tmp_path: Path):
    files = {"locale/en.ts": 'export const en = {\n  error: "The zones cannot be read",\n};\n'}
    files["zones.ts"] = 'export function show() {\n  warn(t("error"));\n}\n'
    facts = facts_of(tmp_path, files, "It stops", "It says “The zones cannot be read”.")
    assert [(fact.kind, fact.path, fact.line) for fact in facts] == [("quoted_here", "zones.ts", 2)]


@pytest.mark.parametrize(
    ("message", "unclaimed"),
    [
        pytest.param("Building the image of zones from", True, id="begins-to-do-it"),
        pytest.param("Building the image of zones failed", False, id="fails"),
        pytest.param("The image of zones is made from", False, id="a-sentence"),
    ],
)
def test_no_claim_rests_on_what_a_program_begins_to_do(tmp_path: Path, message: str, unclaimed: bool):
    code = f"def build(path):\n    raise Stop('[zones] {message} %s' % path)\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.py": code}, "It stops", f"```\n[zones] {message} /b\n```"), "built_here")
    assert (found.strong, found.unclaimed) == (True, unclaimed)


def test_a_literal_that_has_only_a_part_of_a_message_does_not_build_it(tmp_path: Path):
    code = "def one(a, b):\n    log.error('cannot tie the boat %s to %s' % (a, b))\n\n\ndef two(a, b, c):\n    log.error('cannot tie the boat %s to %s with a rope' % (a, b))\n"
    body = "```\ncannot tie the boat Kea to the pier with a rope\n```"
    found = of_kind(facts_of(tmp_path, {"a.py": code}, "It stops", body), "built_here")
    assert [fact.line for fact in found] == [6]


def test_the_tag_before_a_message_is_shown_whole(tmp_path: Path):
    files = {
        "packs.go": 'package packs\n\nfunc Build() {\n\tlog.Printf("[Packs] Building zone %s with the builder", name)\n}\n'
    }
    body = "```\n[Packs] Building zone utc with the builder\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It stops", body), "built_here")
    assert fact.says.startswith("`Build` builds the message “[Packs] Building zone utc with the builder”")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        pytest.param("升级后出现：failed link: failed to get it: redirect failed, status: 200", True, id="chinese"),
        pytest.param("failed link: failed to get it: redirect failed, status: 200", True, id="chain"),
        pytest.param("The redirect failed, status: see below", False, id="prose"),
    ],
)
def test_an_error_in_a_sentence_of_another_language_or_in_a_chain(tmp_path: Path, line: str, *, found: bool):
    code = 'package zones\n\nfunc Link() error {\n\treturn fmt.Errorf("redirect failed, status: %d", code)\n}\n'
    facts = of_kind(facts_of(tmp_path, {"zones.go": code}, "错误", f"{line}\n"), "built_here")
    assert bool(facts) is found
    assert all("“redirect failed, status: 200”" in fact.says for fact in facts)


def test_a_message_with_which_another_one_begins_is_not_built_in_one_place(tmp_path: Path):
    first = 'Log("Zone set-up failed: critical zones are missing");'
    code = (
        f'class Zones {{\n  void A() {{\n    {first}\n  }}\n  void B() {{\n    Log("Zone set-up failed");\n  }}\n}}\n'
    )
    body = "```\nERROR Zone set-up failed: critical zones are missing\nERROR Zone set-up failed\n```"
    facts = of_kind(facts_of(tmp_path, {"Zones.cs": code}, "It stops", body), "built_here")
    assert [fact.line for fact in facts] == [3]


@pytest.mark.parametrize(
    ("call", "message", "claimed"),
    [
        ("throw new Error({})", "the pond of the zone is empty", True),
        ("console.error({})", "the pond of the zone is empty", True),
        ("report(node, sprintf({}))", "this value of the zone is never used", False),
        ("report(node, sprintf({}))", "the value of the zone is unknown", True),
    ],
)
def test_only_a_message_of_an_error_supports_a_claim(tmp_path: Path, call: str, message: str, *, claimed: bool):
    code = f"function load(node) {{\n  {call.format(repr(message))};\n}}\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.js": code}, "Zones", f"```\n{message}\n```"), "built_here")
    assert found.unclaimed is not claimed


def test_the_heading_of_a_crash_report_identifies_no_place(tmp_path: Path):
    code = 'fun build(): String {\n    return print("Acme pond crash report")\n}\n'
    assert not of_kind(facts_of(tmp_path, {"a.kt": code}, "It stops", "```\nAcme pond crash report\n```"), "built_here")
