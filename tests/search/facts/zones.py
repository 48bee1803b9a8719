"""One small project in six languages, with the same functions, messages, option, tests and history in each."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.support.repositories import git, make_repository

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Zones:
    """The sources of the project in one language, each a path and its text at the last commit."""

    load: tuple[str, str]
    """``load_zone`` with a comment that states an intention; it calls ``check_zone``."""
    check: tuple[str, str]
    """``check_zone``, which builds a message under a condition."""
    refuse: tuple[str, str]
    """``refuse_zone``, whose whole body is an error; nothing calls it."""
    scan: tuple[str, str]
    """``scan_zone``, which reads two settings."""
    option: tuple[str, str]
    """The declaration of ``--packed-zones``."""
    test: tuple[str, str]
    """A test that uses ``load_zone``."""
    trace: str
    """A trace whose innermost frame is in a file (``{path}``), at a line and in a function."""
    gone: str
    """A definition of ``scan_lazily``, which only the first release has."""

    @property
    def files(self) -> dict[str, str]:
        """Return all files of the last commit."""
        path, code = self.refuse
        comment = "#" if path.endswith((".py", ".rb")) else "//"
        user = (path, f"{code}{comment} --packed-zones is for zones on disk.\n")
        return dict((self.load, self.check, user, self.scan, self.option, self.test)) | {
            "docs/zones.md": "# Zones\n\n## Loading\n\nCall `load_zone` once.\n",
            ".github/CODEOWNERS": f"*  @octo/all\n/{self.load[0]}  @octo/zones\n",
        }

    def line(self, source: tuple[str, str], words: str) -> int:
        """Return the number of the first line that has the words, 1-based."""
        return 1 + next(at for at, line in enumerate(source[1].split("\n")) if words in line)

    def trace_at(self, source: tuple[str, str], words: str, name: str) -> str:
        """Return a trace whose innermost frame is a function, at the first line that has the words."""
        path, line = source[0], self.line(source, words)
        stem, text = path.rpartition("/")[2].partition(".")[0], source[1].split("\n")[line - 1].strip()
        return self.trace.format(path=path, line=line, name=name, stem=stem, text=text)


@dataclass(frozen=True)
class History:
    """The commits of the project; 1.2.0 and 1.3.0 are tags of the first and of the one before the last."""

    first: str
    opened: str
    """“Open regions lazily (#812)”, which changes ``load_zone``."""
    reworded: str
    """“Name the region”, which changes ``check_zone``, its message, and one line of ``load_zone``."""
    head: str


CHANGES = """# Changes

## 1.4.0

- Fix `load_zone` for
  punctual tables.

## 1.3.0

- Fix `scan_zone` for punctual tables.
"""


def make_history(path: Path, zones: Zones) -> History:
    """Commit the project in four steps."""
    last = zones.files
    (load, code), (check, message), (scan, scanned) = zones.load, zones.check, zones.scan
    opened = code.replace("check_zone(path)", "check_zone(path, 1)")
    old = {
        load: opened.replace("open_region_lazily", "open_region"),
        check: message.replace("has no known region", "is in no region of the table"),
        scan: scanned + zones.gone,
    }
    first = make_repository(path, last | old)
    git(path, "tag", "v1.2.0")
    lazily = make_repository(path, last | old | {load: opened}, message="Open regions lazily (#812)")
    reworded = make_repository(path, last, message="Name the region")
    git(path, "tag", "v1.3.0")
    return History(first, lazily, reworded, make_repository(path, last | {"CHANGES.md": CHANGES}, message="Add a fix"))


LANGUAGES = {
    "python": Zones(
        ("zones/load.py", "# Packed zones are deliberately refused,\n# because they cannot be mapped.\ndef load_zone(path, table):\n    name = check_zone(path)\n    region = open_region_lazily(name, table)\n    return table.strict_zone + region\n"),
        ("zones/check.py", "def check_zone(name):\n    if not name.isupper():\n        raise ZoneError('the zone %s has no known region' % name)\n    return name\n"),
        ("zones/refuse.py", "def refuse_zone(name):\n    raise ZoneError('the zone %s cannot be written to disk' % name)\n"),
        ("zones/scan.py", "def scan_zone(table):\n    if table.strict_zone:\n        return table.lenient_zone\n    return 1\n"),
        ("zones/cli.py", "def add(parser):\n    parser.add_argument('-p', '--packed-zones', help='x')\n"),
        ("tests/test_load.py", "def test_load():\n    assert load_zone('UTC', 1)\n"),
        'Traceback (most recent call last):\n  File "/srv/app/run.py", line 9, in main\n    run()\n  File "/srv/{path}", line {line}, in {name}\n    {text}\nZoneError: bad\n',
        "\n\ndef scan_lazily(table):\n    return table\n",
    ),
    "javascript": Zones(
        ("src/load.js", "// Packed zones are deliberately refused,\n// because they cannot be mapped.\nexport function load_zone(path, table) {\n  const name = check_zone(path)\n  const region = open_region_lazily(name, table)\n  return table.strict_zone + region\n}\n"),
        ("src/check.js", "export function check_zone(name) {\n  if (!name.length) {\n    throw new ZoneError(`the zone ${name} has no known region`)\n  }\n  return name\n}\n"),
        ("src/refuse.js", "export function refuse_zone(name) {\n  throw new ZoneError(`the zone ${name} cannot be written to disk`)\n}\n"),
        ("src/scan.js", "export function scan_zone(table) {\n  if (table.strict_zone) {\n    return table.lenient_zone\n  }\n  return 1\n}\n"),
        ("src/cli.js", "program\n  .option('--packed-zones', 'x')\n"),
        ("test/load.test.js", "it('loads', () => {\n  load_zone('UTC', 1)\n})\n"),
        "ZoneError: bad\n    at {name} (/srv/{path}:{line}:9)\n    at main (/srv/app/run.js:3:1)\n",
        "\nexport function scan_lazily(table) {\n  return table\n}\n",
    ),
    "go": Zones(
        ("zones/load.go", "package zones\n\n// Packed zones are deliberately refused,\n// because they cannot be mapped.\nfunc load_zone(path string, table *Table) int {\n\tname := check_zone(path)\n\tregion := open_region_lazily(name, table)\n\treturn table.strict_zone + region\n}\n"),
        ("zones/check.go", "package zones\n\nfunc check_zone(name string) string {\n\tif len(name) == 0 {\n\t\tpanic(fmt.Sprintf(\"the zone %s has no known region\", name))\n\t}\n\treturn name\n}\n"),
        ("zones/refuse.go", "package zones\n\nfunc refuse_zone(name string) {\n\tpanic(fmt.Sprintf(\"the zone %s cannot be written to disk\", name))\n}\n"),
        ("zones/scan.go", "package zones\n\nfunc scan_zone(table *Table) int {\n\tif table.strict_zone {\n\t\treturn table.lenient_zone\n\t}\n\treturn 1\n}\n"),
        ("zones/cli.go", "package zones\n\nfunc add(flags *FlagSet) {\n\tflags.BoolVar(&packed, \"packed-zones\", false, \"x\")\n}\n"),
        ("zones/load_test.go", "package zones\n\nfunc TestLoad(t *testing.T) {\n\tload_zone(\"UTC\", nil)\n}\n"),
        "panic: bad\n\ngoroutine 1 [running]:\nacme.org/zones.{name}(...)\n\t/srv/{path}:{line}\nmain.main()\n\t/srv/app/run.go:8 +0x1d\n",
        "\nfunc scan_lazily(table *Table) *Table {\n\treturn table\n}\n",
    ),
    "rust": Zones(
        ("src/load.rs", "/// Packed zones are deliberately refused,\n/// because they cannot be mapped.\npub fn load_zone(path: &str, table: &Table) -> u8 {\n    let name = check_zone(path);\n    let region = open_region_lazily(name, table);\n    table.strict_zone + region\n}\n"),
        ("src/check.rs", "pub fn check_zone(name: &str) -> &str {\n    if name.is_empty() {\n        panic!(\"the zone {} has no known region\", name);\n    }\n    name\n}\n"),
        ("src/refuse.rs", "pub fn refuse_zone(name: &str) {\n    panic!(\"the zone {} cannot be written to disk\", name);\n}\n"),
        ("src/scan.rs", "pub fn scan_zone(table: &Table) -> u8 {\n    if table.strict_zone {\n        return table.lenient_zone;\n    }\n    1\n}\n"),
        ("src/cli.rs", "fn add() {\n    Arg::with_name(\"packed-zones\");\n}\n"),
        ("tests/load.rs", "#[test]\nfn loads() {\n    load_zone(\"UTC\", 1);\n}\n"),
        "thread 'main' panicked at {path}:{line}:9:\nbad\nstack backtrace:\n   0: zones::{name}\n             at ./{path}:{line}:9\n   1: app::main\n             at /srv/app/run.rs:3:5\n",
        "\npub fn scan_lazily(table: &Table) -> &Table {\n    table\n}\n",
    ),
    "java": Zones(
        ("src/main/java/zones/Load.java", "package zones;\n\nclass Load {\n  /**\n   * Packed zones are deliberately refused,\n   * because they cannot be mapped.\n   */\n  int load_zone(String path, Table table) {\n    String name = Check.check_zone(path);\n    int region = open_region_lazily(name, table);\n    return table.strict_zone + region;\n  }\n}\n"),
        ("src/main/java/zones/Check.java", "package zones;\n\nclass Check {\n  static String check_zone(String name) {\n    if (name.isEmpty()) {\n      throw new ZoneError(\"the zone \" + name + \" has no known region\");\n    }\n    return name;\n  }\n}\n"),
        ("src/main/java/zones/Refuse.java", "package zones;\n\nclass Refuse {\n  static void refuse_zone(String name) {\n    throw new ZoneError(\"the zone \" + name + \" cannot be written to disk\");\n  }\n}\n"),
        ("src/main/java/zones/Scan.java", "package zones;\n\nclass Scan {\n  int scan_zone(Table table) {\n    if (table.strict_zone) {\n      return table.lenient_zone;\n    }\n    return 1;\n  }\n}\n"),
        ("src/main/java/zones/Cli.java", "package zones;\n\nclass Cli {\n  void add(Options options) {\n    options.addOption(\"p\", \"packed-zones\", false, \"x\");\n  }\n}\n"),
        ("src/test/java/zones/LoadTest.java", "package zones;\n\nclass LoadTest {\n  @Test void loads() {\n    new Load().load_zone(\"UTC\", null);\n  }\n}\n"),
        "Exception in thread \"main\" zones.ZoneError: bad\n\tat zones.{stem}.{name}({stem}.java:{line})\n\tat app.Run.main(Run.java:3)\n",
        "\nclass Lazy {\n  Table scan_lazily(Table table) {\n    return table;\n  }\n}\n",
    ),
    "ruby": Zones(
        ("lib/zones/load.rb", "# Packed zones are deliberately refused,\n# because they cannot be mapped.\ndef load_zone(path, table)\n  name = check_zone(path)\n  region = open_region_lazily(name, table)\n  table.strict_zone + region\nend\n"),
        ("lib/zones/check.rb", "def check_zone(name)\n  if name.empty?\n    raise ZoneError, \"the zone #{name} has no known region\"\n  end\n  name\nend\n"),
        ("lib/zones/refuse.rb", "def refuse_zone(name)\n  raise ZoneError, \"the zone #{name} cannot be written to disk\"\nend\n"),
        ("lib/zones/scan.rb", "def scan_zone(table)\n  if table.strict_zone\n    return table.lenient_zone\n  end\n  1\nend\n"),
        ("lib/zones/cli.rb", "def add(parser)\n  parser.option('--packed-zones', 'x')\nend\n"),
        ("spec/zones/load_spec.rb", "it 'loads' do\n  load_zone('UTC', 1)\nend\n"),
        "{path}:{line}:in `{name}': bad (ZoneError)\n\tfrom /srv/app/run.rb:4:in `<main>'\n",
        "\ndef scan_lazily(table)\n  table\nend\n",
    ),
    "c": Zones(
        ("src/load.c", "/* Packed zones are deliberately refused,\n * because they cannot be mapped. */\nint load_zone(const char *path, struct table *table) {\n  const char *name = check_zone(path);\n  int region = open_region_lazily(name, table);\n  return table->strict_zone + region;\n}\n"),
        ("src/check.c", "const char *check_zone(const char *name) {\n  if (!name[0]) {\n    fail(\"the zone %s has no known region\", name);\n  }\n  return name;\n}\n"),
        ("src/refuse.c", "void refuse_zone(const char *name) {\n  abort_with(\"the zone %s cannot be written to disk\", name);\n}\n"),
        ("src/scan.c", "int scan_zone(struct table *table) {\n  if (table->strict_zone) {\n    return table->lenient_zone;\n  }\n  return 1;\n}\n"),
        ("src/cli.c", "int add(const char *word) {\n  return !strcmp(word, \"--packed-zones\");\n}\n"),
        ("tests/load.c", "int main(void) {\n  return load_zone(\"UTC\", 0);\n}\n"),
        "Program received signal SIGSEGV, Segmentation fault.\n#0  0x00005555 in {name} (path=0x0) at {path}:{line}\n#1  0x00005556 in main () at /srv/app/run.c:8\n",
        "\nstruct table *scan_lazily(struct table *table) {\n  return table;\n}\n",
    ),
}  # fmt: skip
