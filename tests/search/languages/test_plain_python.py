"""The outline by lines equals the parser's; unclear files are left to the parser."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.languages.python import outline_by_lines
from nodes.search.languages.syntax import outline, parsed
from nodes.search.languages.table import LANGUAGES
from tests.support.growth import SOON, assert_cheap

PYTHON = next(language for language in LANGUAGES if language.name == "python")
PLAIN = {
    "empty": "",
    "a-comment": "# nothing",
    "no-line-end": "def f(): pass",
    "methods": (
        "class A(B, metaclass=C):\n    x = 1\n\n    def f(self):\n        return 1\n\n\n    def g(self): ...\n\nx = 2\n"
    ),
    "a-decorator": (
        "@a.b(\n"
        "    1,\n"
        ")\n"
        "# why\n"
        "\n"
        "@c\n"
        "async def f(\n"
        "    x: dict[str, int] = {},\n"
        "    *,\n"
        "    y=(1, (2,)),\n"
        ") -> dict[str, int]:\n"
        "    pass\n"
    ),
    "decorated-methods": (
        "class A:\n"
        "    @property\n"
        "    def f(self): return (1,\n"
        "  2)\n"
        "    @f.setter\n"
        "    def f(self, x):\n"
        "        self.x = x\n"
    ),
    "comments-behind": (
        "def f():\n"
        "    if x:\n"
        "        pass\n"
        "        # a\n"
        "    # b\n"
        "        # c\n"
        "\n"
        "  # d\n"
        "    # e\n"
        "def g():\n"
        "    pass\n"
        "# f\n"
    ),
    "comments-at-the-end": "class A:\n  def f(self):\n      pass\n      # a\n\n  # b",
    "text-that-looks-like-code": (
        "def f():\n"
        '    """Say.\n'
        "\n"
        "def g():\n"
        "  @h\n"
        "import i\n"
        '    """\n'
        "    x = '''\n"
        "class A:'''\n"
        "# def j():\n"
        'x = "def k():"\n'
    ),
    "brackets-in-text": "def f():\n    return '(' + \"]\" # {\n\ndef g(a=')'):\n    pass\n",
    "less-indented-in-brackets": ("def f():\n        x = [\n    1,\n        ]\n        return x\ny = 1\n"),
    "line-ends-that-are-none": (
        "def f(a, \\\n      b):\n    x = a \\\n+ b\n    return x\nfrom a \\\n  import b\nx = 'a \\\nb'\n"
    ),
    "nested": (
        "def f():\n    def f():\n        def f():\n            pass\n    class g(object):\n        def h(self): pass\n"
    ),
    "under-conditions": (
        "if a:\n"
        "    def f():\n"
        "        pass\n"
        "else:\n"
        "    try:\n"
        "        class A:\n"
        "            x = 1\n"
        "    except B:\n"
        "        pass\n"
    ),
    "imports": (
        "from __future__ import a\n"
        "import a.b as c, d\n"
        "from . import e\n"
        "from ..f import (g,\n"
        "  h)\n"
        "if x: import i; import j\n"
        "from.k import l\n"
        "import m # n\n"
        "__import__('o')\n"
        "x.import_(p)\n"
        "import a.b\n"
    ),
    "raises-from": "def f():\n    raise A(\n        b\n    ) from c\n    yield from d\n",
    "messages": (
        "a = 'one two'\n"
        "b = b'''three\n"
        " four''' \"five six\" r'\\n'\n"
        "c = u'seven'\n"
        "d = ' '\n"
        "e = f'{x} is {y:>{z}} long'\n"
        "f = f\"{', '.join(g)}\"\n"
    ),
    "many-messages": "x = 'so many'\n" * 500,
    "other-line-ends": ("def f():\r\n    '''a\r\n  b'''\r\n    # c\r\n\r\n# d\r\nclass A:\r\n    pass\r\n"),
    "a-mark": "\ufeffimport a\ndef f(): pass\n",
    "other-scripts": "def größe(x):\n    return 'zu groß'\n\nclass Äpfel: pass\n",
    "old-print": "def f():\n    print 'not found'\n    exec 'x' in y\n",
    "type-parameters": "def f[T: (a, b)](x: T) -> T:\n    pass\nclass A[T]:\n  pass\n",
    "blank-lines-of-space": "def f():\n    x\n   \n \n    y\n  \nz\n",
}
LEFT = {
    "a-tab": b"def f():\n\treturn 1\n",
    "an-open-bracket": b"def f(:\n    x\n",
    "an-open-string": b"def f():\n    x = 'a\n",
    "an-open-text": b'"""\ndef f():\n    pass\n',
    "no-body": b"def f():\n\nx = 1\n",
    "no-colon": b"def f()\n    pass\n",
    "a-decorator-of-nothing": b"@a\nx = 1\ndef f(): pass\n",
    "not-utf-8": b"def f():\n    return '\xff'\n",
    "old-line-ends": b"def f():\r    pass\r",
    "a-message-in-a-message": b"x = f\"{'not found' if y else z}\"\n",
    "a-stray-backslash": b"x = 1 \\ \ndef f(): pass\n",
    "brackets-across-blocks": b"def f():\n    x = (\ny)\n",
    "an-odd-import": b"import a b\n",
}


@pytest.mark.parametrize("source", PLAIN.values(), ids=PLAIN)
def test_plain_source_gives_the_same_outline_as_its_tree(source: str) -> None:
    assert outline_by_lines(source.encode()) == parsed(PYTHON, source.encode())


@pytest.mark.parametrize("source", LEFT.values(), ids=LEFT)
def test_other_source_is_left_to_the_parser(source: bytes) -> None:
    assert outline_by_lines(source) is None
    assert outline("a.py", source) == parsed(PYTHON, source)


LINES = """def f():|class A(B):|@d|async def g(x=(1,)):|if x:|else:|x = 1|pass|# c||x = [|]|import a|from b import c|
'a b'|\'\'\'a|b\'\'\'|return f(|)|x = y \\"""
SOME = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(LINES.replace("\n", "").split("|"))), max_size=14)


@settings(max_examples=150, deadline=None)
@given(SOME)
def test_any_lines_are_read_like_a_tree_or_left_to_the_parser(lines: list[tuple[int, str]]) -> None:
    source = "\n".join("  " * depth + text for depth, text in lines).encode()
    tree = python_tree(source)
    read = outline_by_lines(source)
    assert read is None or tree is None or read == tree


def python_tree(source: bytes) -> object:
    """Return the outline by the grammar; None if the source is not valid Python, whose tree would be a guess."""
    try:
        compile(source, "a.py", "exec")
    except SyntaxError:
        return None
    return parsed(PYTHON, source)


HOSTILE = {
    "heads": b"def f(\n" * 100_000,
    "closed-heads": b"def f(\n" * 40_000 + b"):\n x\n" * 40_000,
    "levels": b"".join(b" " * depth + b"class A:\n" for depth in range(1_300)),
    "comments-behind": b"def f():\n  x\n" + b"  #\n" * 200_000,
    "quotes": b"\"\"\"\\'''\\" * 80_000,
    "open-quotes": b"\"\\\"'\\'" * 80_000,
    "braces": b'f"' + b"{'" * 200_000 + b'"',
    "imports": b"x:import a;" * 60_000,
    "commas": b"import " + b"a," * 200_000,
    "decorators": b"@a\n" * 200_000,
}


@pytest.mark.tried("source files made to be slow to parse, in each language")
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_hostile_source_takes_little_time(source: bytes) -> None:
    assert_cheap(lambda: outline_by_lines(source), 5.0)


REPEATED = {
    "imports-on-one-line": b"import a;",
    "imports-from-on-one-line": b"from a import b;",
    "imports-behind-statements": b"x;import a;",
    "strings": b"'a b';",
    "functions": b"def f(): pass\n",
    "methods": b"class A:\n    def f(self):\n        # why\n        pass\n\n",
    "decorators": b"@a\n",
    "comments": b"  # a\n",
    "open-heads": b"\ndef f(a,\n",
    "blocks": b"def f():\n  x\n    # a\n  # b\n",
    "levels": b"".join(b" " * depth + b"def f():\n" for depth in range(100)) + b" " * 100 + b"x\n",
    "brackets": b"x = [(1, {2: 3})]\n",
    "commas": b"import a, b, c\n",
}
"""Repetitions of each of these are read in linear time, because this reader runs in the triage process."""
SHORT, LONG = 55_000, 440_000


@pytest.mark.parametrize("unit", REPEATED.values(), ids=REPEATED)
def test_plain_source_takes_linear_time(unit: bytes) -> None:
    long = _seconds(unit, LONG)
    assert long < 5
    # Linear is 8, quadratic is 64. A ratio near 8 needs no second measurement.
    if long > 0.0125 and long > 12 * max(_seconds(unit, SHORT), SOON):
        shorts = [_seconds(unit, SHORT) for _ in range(3)]
        assert min(long, _seconds(unit, LONG)) < 20 * max(min(shorts), SOON)


def _seconds(unit: bytes, size: int) -> float:
    source = b"\n" * (size // 4_000) + unit * (size // len(unit))  # enough lines not to count as minified
    began = time.thread_time()
    outline_by_lines(source)
    return time.thread_time() - began
