"""Plain traces of each language, and what logs, terminals and trackers make of them."""

from __future__ import annotations

import json
from collections.abc import Callable

TRACES = {
    "python": """\
Traceback (most recent call last):
  File "/srv/app/jobs/run.py", line 12, in main
    go(17)
    ~~^^^^
  File "/srv/app/ingest/ledger.py", line 13, in fold
    head = row[:width]
           ~~~^^^^^^^^
TypeError: 'int' object is not subscriptable""",
    "java": """\
java.lang.IllegalStateException: no row "a"
	at com.acme.ledger.Folder.fold(Folder.java:14)
	at com.acme.Main.lambda$run$0(Main.java:6)
	at java.base/java.lang.Thread.run(Thread.java:840)""",
    "javascript": """\
TypeError: row.slice is not a function
    at foldRow (/srv/app/src/ledger/fold.js:13:20)
    at async Book.drain (/srv/app/src/ledger/book.js:44:5)
    at /srv/app/src/main.js:3:1""",
    "php": """\
PHP Fatal error:  Uncaught TypeError: strip_tags(): Argument #1 must be of type string in /srv/feeds/app/Feed.php:8
Stack trace:
#0 /srv/feeds/app/Feed.php(8): strip_tags(Array)
#1 /srv/feeds/app/Control.php(5): App_Feed->load(Array)
#2 {main}""",
    "go": """\
panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
example.org/acme/ledger.(*Book).Fold(0xc000012345)
	/go/src/acme/ledger/fold.go:16 +0x1d
main.main()
	/go/src/acme/main.go:8 +0x2a""",
    "rust": """\
thread 'main' panicked at crates/ledger/src/fold.rs:13:9:
index out of bounds: the len is 3 but the index is 3
stack backtrace:
   0: core::panicking::panic_bounds_check
             at /rustc/abc/library/core/src/panicking.rs:208:5
   1: ledger::fold::fold
             at ./crates/ledger/src/fold.rs:13:9
   2: ledger::main
             at ./crates/ledger/src/main.rs:4:5""",
    "ruby": """\
app/models/feed.rb:8:in `fold': no row (ArgumentError)
	from app/models/book.rb:5:in `each'
	from bin/run.rb:2:in `<main>'""",
    "gdb": """\
Program received signal SIGFPE, Arithmetic exception.
#0  0x0000555555555151 in fold_row (row=0x4, width=0) at ../native/ledger/fold.c:16
#1  0x000055555555518a in main (argc=1, argv=0x7ffe) at ../native/main.c:8""",
    "dotnet": """\
System.NullReferenceException: Object reference not set to an instance of an object.
   at Acme.Ledger.Folder.Fold(String row) in /home/ci/src/Ledger/Folder.cs:line 16
   at Acme.Program.Main(String[] args) in /home/ci/src/Program.cs:line 4""",
    "elixir": """\
** (ArithmeticError) bad argument in arithmetic expression
    (notes 0.3.1) lib/notes/fold.ex:10: Notes.Fold.fold/2
    (notes 0.3.1) lib/notes/book.ex:9: Notes.Book.drain/1""",
}
"""One trace for each language, as its runtime prints it."""


def before(prefix: str) -> Callable[[str], str]:
    """Return a function that writes a prefix before each line; ``#`` stands for the number of the line."""

    def decorate(trace: str) -> str:
        return "\n".join(f"{prefix.replace('#', str(n % 10))}{line}" for n, line in enumerate(trace.split("\n")))

    return decorate


PREFIXES = {
    "iso": "2025-01-02T10:11:1#.123456+00:00 ",
    "iso-space": "2025-01-02 10:11:1#,123 ",
    "iso-level": "2025-01-02 10:11:1#,123 ERROR ",
    "iso-level-logger": "2025-01-02 10:11:1#,123 - acme.worker - ERROR - ",
    "iso-thread-level-logger": "2025-01-02 10:11:1#,123 [http-nio-8080-exec-#] ERROR com.acme.web.Errors - ",
    "spring": "2025-01-02T10:11:1#.123Z ERROR 1 --- [main] c.a.web.Errors   : ",
    "time": "10:11:1#.123 ",
    "bracketed-time": "[10:11:1#] ",
    "am-pm": "1/2/2025, 10:11:1# AM ",
    "slashes": "2025/01/02 10:11:1# ",
    "dots": "02.01.2025 10:11:1# ",
    "syslog": "Jan 12 02:00:0# box acme[8841]: ",
    "syslog-no-pid": "Jan  2 02:00:0# box acme: ",
    "journal-iso": "2025-01-12T02:00:0#+0100 box acme[8841]: ",
    "rfc5424": "<34>1 2025-01-12T02:00:0#.003Z box acme 8841 ID47 - ",
    "heroku": "2025-01-02T10:11:1#.123456+00:00 app[web.1]: ",
    "cri": "2025-01-02T10:11:1#.123456789Z stderr F ",
    "compose": "web-1  | ",
    "pm2-time": "0|bot      | 2025-01-02 10:11:1# +02:00: ",
    "compose-time": "web_1 | 2025-01-02T10:11:1#.123456Z ",
    "foreman": "10:11:1# web.1  | ",
    "kubectl": "[pod/api-7d9f/api] ",
    "stern": "api-7d9f api ",
    "logcat-threadtime": "12-02 00:38:1#.756 12112 12112 E AcmeApp : ",
    "logcat-brief": "E/AcmeApp(12112): ",
    "logcat-time": "12-02 00:38:1#.756 E/AcmeApp(12112): ",
    "logcat-studio": "2025-12-02 00:38:1#.756 12112-12112/com.acme E/AcmeApp: ",
    "logcat-studio-new": "2025-12-02 00:38:1#.756 12112-12112 AcmeApp          com.acme          E  ",
    "apache": "[Thu Jan 12 02:00:0#.123456 2025] [php:error] [pid 8841:tid 1] [client 192.0.2.1:5678] ",
    "nginx": "2025/01/12 02:00:0# [error] 123#123: *45 ",
    "dmesg": "[ 1234.56789#] ",
    "gh-actions": "2025-01-02T10:11:1#.1234567Z ",
    "gh-run-view": "build\tRun tests\t2025-01-02T10:11:1#.1234567Z ",
    "jenkins": "[2025-01-02T10:11:1#.123Z] ",
    "git-remote": "remote: ",
    "npm": "npm ERR! ",
    "level": "[ERROR] ",
    "level-colon": "ERROR: ",
    "quoted": "> ",
    "quoted-twice": "> > ",
    "list": "- ",
    "indented": "        ",
    "line-numbers": "1# | ",
    "nested": "web-1  | 2025-01-02 10:11:1#,123 ERROR [acme.worker] ",
}

Decoration = Callable[[str], str]


def one_string(trace: str) -> str:
    """Return a trace as the content of a JSON string without its quotation marks."""
    return json.dumps(trace)[1:-1]


def boxed(trace: str) -> str:
    """Return a trace in a box."""
    width = max(map(len, trace.expandtabs(4).split("\n")))
    inside = "\n".join(f"│ {line:{width}} │" for line in trace.expandtabs(4).split("\n"))
    return f"╭{'─' * (width + 2)}╮\n{inside}\n╰{'─' * (width + 2)}╯"


def coloured(trace: str, escape: str = "\x1b") -> str:
    """Return a trace whose lines are red."""
    return "\n".join(f"{escape}[1;31m{line}{escape}[0m" for line in trace.split("\n"))


def entities(trace: str) -> str:
    """Return a trace as HTML."""
    return trace.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


WRAPPINGS: dict[str, Decoration] = {
    "fence": lambda trace: f"```\n{trace}\n```",
    "tildes": lambda trace: f"~~~\n{trace}\n~~~",
    "json": lambda trace: json.dumps({"level": "error", "time": "2025-01-02T03:04:05Z", "stack": trace, "pid": 7}),
    "json-message": lambda trace: json.dumps({"severity": "ERROR", "message": f"{trace}\n"}),
    "json-in-json": lambda trace: json.dumps({"log": json.dumps({"msg": "failed", "exc_info": trace}) + "\n"}),
    "json-lines": lambda trace: "\n".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2025-01-02T03:04:05.678Z"})
        for line in trace.split("\n")
    ),
    "json-after-prefix": lambda trace: f"2025-01-02 10:11:12 worker: {json.dumps({'error': trace})}",
    "python-dict": lambda trace: repr({"state": "FAILURE", "traceback": trace}),
    "python-list": lambda trace: repr([f"{line}\n" for line in trace.split("\n")]),
    "python-bytes": lambda trace: repr(trace.encode()),
    "logfmt": lambda trace: f'time="2025-01-02T10:11:12Z" level=error msg="failed" error="{one_string(trace)}"',
    "unquoted": lambda trace: "worker failed: \\n" + trace.replace("\n", "\\n").replace("\t", "\\t"),
    "box": boxed,
    "colours": coloured,
    "colours-without-escape": lambda trace: coloured(trace, ""),
    "colours-as-text": lambda trace: coloured(trace, "\\x1b"),
    "colours-as-caret": lambda trace: coloured(trace, "^["),
    "entities": lambda trace: f"<pre>{entities(trace)}</pre>",
    "pre": lambda trace: f"<pre><code>{trace}</code></pre>",
    "breaks": lambda trace: "<br>\n".join(trace.split("\n")),
    "breaks-only": lambda trace: "<br/>".join(trace.split("\n")),
    "carriage-returns": lambda trace: trace.replace("\n", "\r\n"),
    "no-break-spaces": lambda trace: trace.replace(" ", "\u00a0"),
    "details": lambda trace: f"<details><summary>Trace</summary>\n\n```\n{trace}\n```\n\n</details>",
}
DECORATIONS: dict[str, Decoration] = {**{name: before(prefix) for name, prefix in PREFIXES.items()}, **WRAPPINGS}
