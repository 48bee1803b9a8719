"""The dependency that a stack trace leads into, by the repository's manifests."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.issue.facts import read_facts
from nodes.sources import Dependency
from nodes.sources.dependency import _READERS, find_dependency, find_in

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
POETRY = """\
[[package]]
name = "PyYAML"
version = "6.0"
[package.source]
url = "https://github.com/yaml/pyyaml.git"
"""
PYPROJECT = """\
[project]
name = "feed"
dependencies = ["pyyaml @ git+https://github.com/yaml/pyyaml@main"]
"""
CARGO_LOCK = """\
[[package]]
name = "serde_json"
version = "1.0.96"
source = "git+https://github.com/serde-rs/json#1"
"""
CARGO = """\
[package]
name = "app"
[dependencies]
serde-json = { git = "https://github.com/serde-rs/json" }
"""
POM = """\
<dependency>
<groupId>com.fasterxml.jackson</groupId>
<artifactId>jackson-databind</artifactId>
<version>2.1</version>
"""
GEMFILE = """\
GIT
  remote: https://github.com/rails/rails.git
  specs:
    activesupport (7.0.4)

GEM
"""
OWN = PYTHON.replace("site-packages/yaml/__init__.py", "site-packages/feed/reader.py")


class Files(dict[str, str]):
    """The files of a commit."""

    async def text(self, path: str) -> str | None:
        return self.get(path)


@pytest.mark.parametrize(
    ("trace", "files", "expected"),
    [
        pytest.param(
            PYTHON,
            {"uv.lock": '[[package]]\nname = "pyyaml"\nversion = "6.0.1"\nsource = { registry = "x" }\n'},
            Dependency("pyyaml", "python"),
            id="uv.lock",
        ),
        pytest.param(
            PYTHON,
            {"poetry.lock": POETRY},
            Dependency("PyYAML", "python", "yaml/pyyaml"),
            id="poetry.lock",
        ),
        pytest.param(
            PYTHON,
            {"requirements.txt": "# x\nrequests>=2\nPyYAML==5.4 ; python_version > '3'\n"},
            Dependency("PyYAML", "python"),
            id="requirements.txt",
        ),
        pytest.param(
            PYTHON,
            {"pyproject.toml": PYPROJECT},
            Dependency("pyyaml", "python", "yaml/pyyaml"),
            id="pyproject.toml",
        ),
        pytest.param(
            PYTHON,
            {"Pipfile.lock": json.dumps({"default": {"pyyaml": {"version": "==6.0"}}})},
            Dependency("pyyaml", "python"),
            id="Pipfile.lock",
        ),
        pytest.param(PYTHON, {}, Dependency("yaml", "python"), id="undeclared"),
        pytest.param(PYTHON, {"uv.lock": "[[[ no TOML"}, Dependency("yaml", "python"), id="broken-lock"),
        pytest.param(OWN, {"src/feed/reader.py": "x"}, None, id="our-own-code-installed"),
        pytest.param(OWN, {"pyproject.toml": '[project]\nname = "Feed"\n'}, None, id="our-own-name"),
        pytest.param(
            NODE,
            {"package.json": json.dumps({"dependencies": {"@babel/parser": "github:babel/babel#main"}})},
            Dependency("@babel/parser", "javascript", "babel/babel"),
            id="package.json",
        ),
        pytest.param(
            NODE,
            {
                "packages/web/package-lock.json": json.dumps(
                    {"packages": {"": {}, "node_modules/@babel/parser": {"version": "7.1.0"}}}
                )
            },
            Dependency("@babel/parser", "javascript"),
            id="package-lock.json-of-a-part",
        ),
        pytest.param(
            GO,
            {"go.mod": "module example.org/app\n\nrequire (\n\tgithub.com/BurntSushi/toml v1.3.2\n)\n"},
            Dependency("github.com/BurntSushi/toml", "go", "BurntSushi/toml"),
            id="go.mod",
        ),
        pytest.param(GO, {}, Dependency("github.com/BurntSushi/toml", "go", "BurntSushi/toml"), id="go-undeclared"),
        pytest.param(GO, {"go.mod": "module github.com/BurntSushi/toml\n"}, None, id="go-itself"),
        pytest.param(
            RUST,
            {"Cargo.lock": CARGO_LOCK},
            Dependency("serde_json", "rust", "serde-rs/json"),
            id="Cargo.lock",
        ),
        pytest.param(
            RUST,
            {"Cargo.toml": CARGO},
            Dependency("serde-json", "rust", "serde-rs/json"),
            id="Cargo.toml",
        ),
        pytest.param(
            JAVA,
            {"pom.xml": POM},
            Dependency("com.fasterxml.jackson:jackson-databind", "jvm"),
            id="pom.xml",
        ),
        pytest.param(
            JAVA,
            {"build.gradle.kts": 'implementation("com.fasterxml.jackson:jackson-databind:2.1")'},
            Dependency("com.fasterxml.jackson:jackson-databind", "jvm"),
            id="build.gradle.kts",
        ),
        pytest.param(JAVA, {}, None, id="a-class-of-nobody-known"),
        pytest.param(
            RUBY,
            {"Gemfile.lock": GEMFILE},
            Dependency("activesupport", "ruby", "rails/rails"),
            id="Gemfile.lock",
        ),
        pytest.param(
            PHP,
            {
                "composer.lock": json.dumps(
                    {
                        "packages": [
                            {
                                "name": "monolog/monolog",
                                "version": "3.0",
                                "source": {"url": "https://github.com/Seldaek/monolog.git"},
                            }
                        ]
                    }
                )
            },
            Dependency("monolog/monolog", "php", "Seldaek/monolog"),
            id="composer.lock",
        ),
        pytest.param("It hangs.", {"uv.lock": ""}, None, id="no-trace"),
        pytest.param(
            PYTHON.replace("/usr/lib/python3.11/site-packages/yaml", "/app/src/yaml"), {}, None, id="own-code"
        ),
    ],
)
async def test_the_dependency_in_the_trace(trace: str, files: dict[str, str], expected: Dependency | None) -> None:
    assert await find_dependency(read_facts("It fails", trace).traces, Files(files).text) == expected


@given(name=st.sampled_from(sorted(_READERS)), text=st.text(max_size=300), ecosystem=st.sampled_from(["python", "jvm"]))
def test_no_manifest_raises_an_error(name: str, text: str, ecosystem: str) -> None:
    find_in(name, text, Dependency("yaml", ecosystem))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["[]", "null", "3", '{"packages": 3, "dependencies": [1], "default": null}', "a = [" * 4_000]
)
@pytest.mark.parametrize("name", sorted(_READERS))
def test_malformed_manifests_declare_nothing(name: str, text: str) -> None:
    assert find_in(name, text, Dependency("yaml", "python")) is None
