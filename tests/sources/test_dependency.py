"""The dependency that a stack trace leads into, by the folder of its package."""

from __future__ import annotations

import pytest

from nodes.agents.external_sources import find_dependency
from nodes.issue.facts import raising_package, read_facts
from nodes.sources.protocol import Dependency

PYTHON = """Traceback (most recent call last):
  File "/app/src/feed/reader.py", line 10, in read
    return yaml.safe_load(x)
  File "/usr/lib/python3.11/site-packages/yaml/__init__.py", line 125, in safe_load
    return load(stream, SafeLoader)
yaml.scanner.ScannerError: mapping values are not allowed here"""
NODE = """TypeError: Cannot read properties of undefined (reading 'x')
    at parse (/app/packages/web/node_modules/@babel/parser/lib/index.js:10:5)
    at run (/app/packages/web/src/run.js:1:2)"""
GO = """panic: runtime error: invalid memory address

goroutine 1 [running]:
github.com/BurntSushi/toml.Decode(0x0)
	/root/go/pkg/mod/github.com/!burnt!sushi/toml@v1.3.2/decode.go:174 +0x2b
main.main()
	/app/main.go:10 +0x1d"""
RUST = """\
thread 'main' panicked at /root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde_json-1.0.96/src/de.rs:10:5:
boom
stack backtrace:
   0: serde_json::de::from_str
             at /root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/serde_json-1.0.96/src/de.rs:10:5
   1: app::main
             at ./src/main.rs:3:5"""
JAVA = """java.lang.IllegalArgumentException: bad
	at java.util.HashMap.get(HashMap.java:100)
	at com.fasterxml.jackson.databind.ObjectMapper.readValue(ObjectMapper.java:100)
	at org.acme.App.main(App.java:5)"""
RUBY = """/usr/lib/gems/activesupport-7.0.4/e.rb:10:in `call': undefined method `x' for nil:NilClass (NoMethodError)
	from /app/lib/a.rb:3:in `run'"""
PHP = """\
PHP Fatal error:  Uncaught InvalidArgumentException: bad in /app/vendor/monolog/monolog/src/Monolog/Logger.php:10
Stack trace:
#0 /app/src/a.php(3): Monolog\\Logger->log()
#1 {main}
  thrown in /app/vendor/monolog/monolog/src/Monolog/Logger.php on line 10"""
OWN = PYTHON.replace("site-packages/yaml/__init__.py", "site-packages/feed/reader.py")


class Files(dict[str, str]):
    """The files of a commit."""

    async def text(self, path: str) -> str | None:
        return self.get(path)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        pytest.param(PYTHON, Dependency("yaml"), id="python"),
        pytest.param(NODE, Dependency("@babel/parser"), id="node"),
        pytest.param(GO, Dependency("github.com/BurntSushi/toml", "BurntSushi/toml"), id="go"),
        pytest.param(
            GO.replace("/root/go/pkg/mod/github.com/!burnt!sushi/toml@v1.3.2", "/app/vendor/github.com/x/toml"),
            Dependency("github.com/x/toml", "x/toml"),
            id="go-vendored",
        ),
        pytest.param(RUST, Dependency("serde_json"), id="rust"),
        pytest.param(RUBY, Dependency("activesupport"), id="ruby"),
        pytest.param(PHP, Dependency("monolog/monolog"), id="php"),
        pytest.param(JAVA, None, id="java-has-no-folders"),
        pytest.param("It hangs.", None, id="no-trace"),
        pytest.param(PYTHON.replace("/usr/lib/python3.11/site-packages/yaml", "/app/src/yaml"), None, id="own-code"),
        pytest.param(OWN, None, id="own-code-installed"),
        pytest.param(PYTHON.replace("site-packages/yaml", "site-packages/other"), Dependency("other"), id="not-ours"),
        pytest.param(GO.replace("BurntSushi", "acme").replace("/toml", "/kettle"), None, id="own-name"),
    ],
)
async def test_the_dependency_in_the_trace(trace: str, expected: Dependency | None) -> None:
    files = Files({"src/feed/reader.py": "x"})
    assert await find_dependency(read_facts("It fails", trace).traces, "acme/kettle", files.text) == expected


def test_an_error_in_a_class_of_the_project_was_not_raised_outside() -> None:
    own = "java.lang.IllegalStateException: bad\n\tat org.acme.App.main(App.java:5)"
    assert raising_package(read_facts("It fails", own).traces) is None
