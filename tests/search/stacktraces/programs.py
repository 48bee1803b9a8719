"""Programs of a few lines that crash, with what their runtime's trace says."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from typing import NamedTuple


class Crash(NamedTuple):
    """A program, and the error and innermost frames of the trace that it prints."""

    source: str
    error: str
    frames: tuple[tuple[int | None, str | None], ...]
    """(line, function) of the program's own frames, innermost first; a function of None is not compared."""
    traces: int = 1
    """Links of a chain are separate traces; the last one is compared."""
    oldest: tuple[int, int] = (2, 7)
    """The first version of the language that runs the program."""


PYTHON = {
    "raise": Crash("def f():\n    raise ValueError('bad')\nf()\n", "ValueError", ((2, "f"), (3, "<module>"))),
    "index": Crash("def f(a):\n    return a[5]\nf([1])\n", "IndexError", ((2, "f"), (3, "<module>"))),
    "slice": Crash("def f(row, n):\n    return row[:n]\nf(17, 3)\n", "TypeError", ((2, "f"), (3, "<module>"))),
    "arithmetic": Crash("def f(a, b):\n    return 1 + a / b\nf(1, 0)\n", "ZeroDivisionError", ((2, "f"), (3, "<module>"))),
    "key": Crash("d = {'a': {}}\nprint(d['a']['b'])\n", "KeyError", ((2, "<module>"),)),
    "attribute": Crash("def f(x):\n    return x.strip().gone\nf('a')\n", "AttributeError", ((2, "f"), (3, "<module>"))),
    "call-of-many-lines": Crash(
        "def f(*a):\n    return len(\n        a[0]\n    )\n\n\nf(\n    1,\n    2,\n)\n", "TypeError", ((None, "f"), (None, "<module>"))
    ),
    "caused-by": Crash(
        "def f():\n    try:\n        1 / 0\n    except ZeroDivisionError as e:\n        raise RuntimeError('no') from e\nf()\n",
        "RuntimeError", ((5, "f"), (6, "<module>")), 2, (3, 6),
    ),
    "while-handling": Crash(
        "def f():\n    try:\n        {}['a']\n    except KeyError:\n        [][0]\nf()\n", "IndexError", ((5, "f"), (6, "<module>")), 2, (3, 6)
    ),
    "recursion": Crash("def f(n):\n    return f(n + 1)\nf(0)\n", "RecursionError", ((2, "f"),), 1, (3, 6)),
    "lambda": Crash("g = lambda x: x + 'a'\ng(1)\n", "TypeError", ((1, "<lambda>"), (2, "<module>"))),
    "comprehension": Crash("def f(a):\n    return [1 / x for x in a]\nf([0])\n", "ZeroDivisionError", ((2, None),)),
    "generator": Crash("def g():\n    yield 1\n    raise OSError('gone')\nlist(g())\n", "OSError", ((3, "g"), (4, "<module>"))),
    "async": Crash(
        "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    raise ValueError('late')\nasync def main():\n    await f()\n"
        "asyncio.run(main())\n", "ValueError", ((4, "f"), (6, "main")), 1, (3, 7),
    ),
    "thread": Crash(
        "import threading\ndef work():\n    raise ValueError('in a thread')\nt = threading.Thread(target=work)\nt.start()\nt.join()\n",
        "ValueError", ((3, "work"),),
    ),
    "decorator": Crash(
        "import functools\ndef deco(f):\n    @functools.wraps(f)\n    def wrapper(*a):\n        return f(*a)\n    return wrapper\n"
        "@deco\ndef g(x):\n    return int(x)\ng('a')\n", "ValueError", ((9, "g"), (5, "wrapper"), (10, "<module>")),
    ),
    "method": Crash(
        "class Book(object):\n    def fold(self):\n        return self.rows[0]\n    rows = ()\nBook().fold()\n", "IndexError",
        ((3, "fold"), (5, "<module>")),
    ),
    "exec": Crash("code = 'def f():\\n    return 1 / 0\\nf()'\nexec(code)\n", "ZeroDivisionError", ((2, "f"), (3, "<module>"))),
    "assertion": Crash("def f(x):\n    assert x > 1, 'x is %s' % x\nf(1)\n", "AssertionError", ((2, "f"), (3, "<module>"))),
    "bare-assertion": Crash("def f(x):\n    assert x\nf(0)\n", "AssertionError", ((2, "f"), (3, "<module>"))),
    "syntax": Crash("def f():\n    x = = 1\n", "SyntaxError", ((2, None),)),
    "indentation": Crash("def f():\npass\n", "IndentationError", ((2, None),)),
    "own-error": Crash("class Bad(Exception):\n    pass\ndef f():\n    raise Bad\nf()\n", "Bad", ((4, "f"), (5, "<module>"))),
    "own-error-with-message": Crash(
        "class Stale(Exception):\n    pass\ndef f():\n    raise Stale('a\\nb')\nf()\n", "Stale", ((4, "f"), (5, "<module>"))
    ),
    "import": Crash("def f():\n    import not_there_at_all\nf()\n", "ModuleNotFoundError", ((2, "f"), (3, "<module>")), 1, (3, 6)),
    "name": Crash("def f():\n    return foo\nf()\n", "NameError", ((2, "f"), (3, "<module>"))),
    "unpack": Crash("def f(t):\n    a, b = t\n    return a\nf((1, 2, 3))\n", "ValueError", ((2, "f"), (4, "<module>"))),
    "group": Crash(
        "def f():\n    raise ExceptionGroup('two', [ValueError('a')])\nf()\n", "ExceptionGroup", ((2, "f"), (3, "<module>")), 1, (3, 11)
    ),
    "note": Crash(
        "def f():\n    e = ValueError('a')\n    e.add_note('more')\n    raise e\nf()\n", "ValueError", ((4, "f"), (5, "<module>")), 1, (3, 11)
    ),
    "fault": Crash(
        "import faulthandler\nfaulthandler.enable()\ndef f():\n    import ctypes\n    ctypes.string_at(0)\nf()\n", "Fatal Python error",
        ((5, "f"), (6, "<module>")), 1, (3, 6),
    ),
}  # fmt: skip

NODE = {
    "raise": Crash("function f() {\n  throw new RangeError('bad');\n}\nf();\n", "RangeError", ((2, "f"),)),
    "null": Crash("function f(x) {\n  return x.a.b;\n}\nf({});\n", "TypeError", ((2, "f"),)),
    "method": Crash("class Book {\n  fold() {\n    null.x;\n  }\n}\nnew Book().fold();\n", "TypeError", ((3, "Book.fold"), (6, None))),
    "constructor": Crash("class Book {\n  constructor() {\n    null.x;\n  }\n}\nnew Book();\n", "TypeError", ((3, None), (6, None))),
    "rejection": Crash("async function f() {\n  throw new TypeError('late');\n}\nf();\n", "TypeError", ((2, "f"),)),
    "async": Crash(
        "async function f() {\n  await null;\n  throw new TypeError('late');\n}\nasync function g() {\n  await f();\n}\ng();\n",
        "TypeError", ((3, "f"), (6, "g")),
    ),
    "anonymous": Crash("const f = [() => { throw new Error('x'); }];\nf[0]();\n", "Error", ((1, None), (2, None))),
    "callback": Crash("[1].map(function (x) {\n  return x.y.z;\n});\n", "TypeError", ((2, None),)),
    "timer": Crash("setTimeout(function late() {\n  undefined.x;\n}, 1);\n", "TypeError", ((2, None),)),
    "cause": Crash(
        "function f() {\n  try { null.x; } catch (e) {\n    throw new Error('outer', { cause: e });\n  }\n}\nf();\n", "TypeError",
        ((2, "f"),), 2,
    ),
    "own-error": Crash("class Stale extends Error {}\nfunction f() {\n  throw new Stale('old');\n}\nf();\n", "Stale", ((3, "f"),)),
    "eval": Crash("function f() {\n  eval('null.x');\n}\nf();\n", "TypeError", ()),
}  # fmt: skip

JAVA = {
    "plain": Crash(
        'public class Main {\n  static int f(int[] a) {\n    return a[5];\n  }\n  public static void main(String[] x) {\n    f(new int[1]);\n  }\n}\n',
        "java.lang.ArrayIndexOutOfBoundsException", ((3, "f"), (6, "main")),
    ),
    "cause": Crash(
        'public class Main {\n  static void f() {\n    try {\n      Object o = null;\n      o.toString();\n    } catch (RuntimeException e) {\n'
        '      throw new IllegalStateException("outer", e);\n    }\n  }\n  public static void main(String[] x) {\n    f();\n  }\n}\n',
        "java.lang.NullPointerException", ((5, "f"),), 2,
    ),
    "suppressed": Crash(
        'public class Main {\n  static class R implements AutoCloseable {\n    public void close() {\n'
        '      throw new IllegalStateException("close");\n    }\n  }\n  public static void main(String[] x) {\n    try (R r = new R()) {\n'
        '      throw new RuntimeException("body");\n    }\n  }\n}\n', "java.lang.IllegalStateException", ((4, "close"),), 2,
    ),
    "lambda": Crash(
        'public class Main {\n  public static void main(String[] x) {\n    Runnable r = () -> {\n      throw new RuntimeException("l");\n    };\n'
        '    r.run();\n  }\n}\n', "java.lang.RuntimeException", ((4, "lambda$main$0"), (6, "main")),
    ),
    "inner": Crash(
        'public class Main {\n  static class Book {\n    int fold() {\n      return 1 / 0;\n    }\n  }\n  public static void main(String[] x) {\n'
        '    new Book().fold();\n  }\n}\n', "java.lang.ArithmeticException", ((4, "fold"), (8, "main")),
    ),
    "thread": Crash(
        'public class Main {\n  public static void main(String[] x) {\n    new Thread(() -> {\n      throw new RuntimeException("t");\n    }).start();\n'
        '  }\n}\n', "java.lang.RuntimeException", ((4, "lambda$main$0"),),
    ),
}  # fmt: skip

RUST = {
    "index": Crash(
        "fn f(v: &[i32], n: usize) -> i32 {\n    v[n]\n}\nfn main() {\n    let n = std::env::args().count() + 4;\n    println!(\"{}\", f(&[1], n));\n}\n",
        "panic", ((2, None),),
    ),
    "unwrap": Crash(
        "fn f() -> i32 {\n    \"a\".parse::<i32>().unwrap()\n}\nfn main() {\n    println!(\"{}\", f());\n}\n", "panic", ((2, None),)
    ),
    "thread": Crash(
        "fn main() {\n    let t = std::thread::spawn(|| {\n        panic!(\"in a thread\");\n    });\n    let _ = t.join();\n}\n", "panic", ((3, None),)
    ),
}  # fmt: skip

C = {
    "division": Crash(
        "int fold(int n, int width) {\n  return n / width;\n}\nint main(int c, char **v) {\n  return fold(c, c - 1);\n}\n", "SIGFPE",
        ((2, "fold"), (5, "main")),
    ),
    "null": Crash(
        "int fold(int *row) {\n  return row[3];\n}\nint main(int c, char **v) {\n  return fold(c > 5 ? &c : 0);\n}\n", "SIGSEGV",
        ((2, "fold"), (5, "main")),
    ),
}  # fmt: skip

SCRIPTS = {
    ("php", "raise"): Crash(
        "<?php\nclass Cart {\n    function add($x) {\n        throw new RuntimeException('full');\n    }\n}\nfunction run() {\n"
        "    (new Cart())->add(1);\n}\nrun();\n",
        "RuntimeException",
        ((4, "add"), (8, "run"), (10, None)),
    ),
    ("php", "division"): Crash(
        "<?php\nfunction half(int $x) {\n    return intdiv($x, 0);\n}\nhalf(4);\n",
        "DivisionByZeroError",
        ((3, "half"), (5, None)),
    ),
    ("php", "type"): Crash("<?php\nfunction f(int $x) { return $x; }\nf('a');\n", "TypeError", ((3, None),)),
    ("ruby", "raise"): Crash(
        "class Cart\n  def add(x)\n    raise ArgumentError, 'full'\n  end\nend\ndef run\n  Cart.new.add(1)\nend\nrun\n",
        "ArgumentError",
        ((3, None), (7, None), (9, None)),
    ),
    ("ruby", "shown-code"): Crash("def half(x)\n  x.size\nend\nhalf(nil)\n", "NoMethodError", ((2, None), (4, None))),
    ("ruby", "suggestion"): Crash("def f(text)\n  text.upcsae\nend\nf('a')\n", "NoMethodError", ((2, None), (4, None))),
    ("perl", "confess"): Crash(
        "use Carp qw(confess);\nsub add {\n    confess 'cart is full';\n}\nsub run {\n    add(1);\n}\nrun();\n",
        "",
        ((3, None), (6, None), (8, None)),
    ),
    ("lua5.4", "index"): Crash(
        "local function add(x)\n  return x.size.n\nend\nfunction run()\n  local y = add({})\n  return y\nend\nrun()\n",
        "",
        ((2, "add"), (5, "run"), (8, None)),
    ),
}
"""Programs of runtimes that read a script, by the runtime; an empty error means that the trace has only a message."""
