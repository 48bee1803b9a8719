"""Other lines, of the file and of the project, with the code that an error says is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of, of_kind

RULE = "module.exports = {\n  create(context) {\n    const name = context.getFilename();\n    return name;\n  },\n};\n"
TRACE = "```\nTypeError: context.getFilename is not a function\n    at Object.create (/app/rules/{}:3:26)\n```"


def test_the_other_files_that_use_what_is_gone(tmp_path: Path):
    other = "// context.getFilename() was here\nfunction b(context) {\n  return context.getFilename();\n}\n"
    files = {"rules/a.js": RULE, "rules/b.js": other, "rules/c.js": RULE, "rules/d.js": "// context.getFilename\n"}
    files["rules/aa.js"] = "f(context.filename ?? context.getFilename());\n"
    facts = facts_of(tmp_path, files, "It fails", TRACE.format("a.js"))
    (fact,) = [fact for fact in of_kind(facts, "used_here") if "other files" in fact.says]
    says = (
        "`context.getFilename` is in 3 other files of the project's own code in this language, "
        "as on line 3 of `rules/b.js`."
    )
    assert (fact.says, fact.path, fact.count, fact.follows) == (says, None, 3, ("rules/a.js", 3))


@pytest.mark.parametrize(
    ("error", "code", "found"),
    [
        ("error CS0619: 'Pond.GetOldDepth()' is obsolete: 'Use Depth'", "pond.GetOldDepth()", True),
        ("error CS0618: 'Pond.GetOldDepth()' needs a lock", "pond.GetOldDepth()", False),
        ("error CS0619: 'Pond.Deep()' is obsolete: 'Use Depth'", "pond.Deep()", False),
    ],
)
def test_what_a_compiler_says_is_obsolete(tmp_path: Path, error: str, code: str, *, found: bool):
    """A plain word may be a member of anything, and an error about how a line is called is not one of the others."""
    files = {
        f"src/{name}.cs": f"class {name} {{\n  int F(Pond pond) {{\n    return {code};\n  }}\n}}\n" for name in "AB"
    }
    facts = facts_of(tmp_path, files, "It does not build", f"```\nsrc/A.cs(3,12): {error}\n```")
    assert any("in 1 other file of" in fact.says for fact in of_kind(facts, "used_here")) is found


def test_the_value_of_a_variable_is_no_reason_to_show_other_files(tmp_path: Path):
    files = {f"{name}.py": f"def {name}(pond):\n    return pond.bed.deep_side\n" for name in ("fill", "drain")}
    body = (
        'Traceback (most recent call last):\n  File "fill.py", line 2, in fill\n    return pond.bed.deep_side\n'
        "AttributeError: 'NoneType' object has no attribute 'deep_side'\n"
    )
    facts = facts_of(tmp_path, files, "It fails", body)
    assert not [fact for fact in facts if "other file" in fact.says]


def test_the_other_files_that_include_a_missing_header(tmp_path: Path):
    files = {f"src/{name}.cpp": "// One.\n#include <host/src/Log.hpp>\n" for name in ("a", "b")}
    text = "```\nsrc/a.cpp:2:10: fatal error: host/src/Log.hpp: No such file or directory\n```"
    facts = facts_of(tmp_path, files, "It does not build", text)
    says = (
        "`host/src/Log.hpp` is in 1 other file of the project's own code in this language, as on line 2 of `src/b.cpp`."
    )
    assert says in [fact.says for fact in facts]


def test_an_error_about_how_a_line_is_called_is_not_that_of_other_lines(tmp_path: Path):
    files = {f"{name}.py": f"def {name}():\n    return asyncio.get_event_loop()\n" for name in ("fill", "drain")}
    body = (
        'Traceback (most recent call last):\n  File "fill.py", line 2, in fill\n    return asyncio.get_event_loop()\n'
        "RuntimeError: There is no current event loop in thread 'MainThread'.\n"
    )
    facts = facts_of(tmp_path, files, "It fails", body)
    assert "has `asyncio.get_event_loop()`" in facts[0].says
    assert not [fact for fact in facts if "other file" in fact.says]


def test_a_function_of_another_language_is_another_one(tmp_path: Path):
    files = {
        "src/a.cpp": "void f() {\n  App.register_part(3);\n}\n",
        "src/b.py": "def g():\n    register_part(3)\n",
        "src/c.cpp": "void h() {\n  App.register_part(4);\n}\n",
    }
    text = "```\nsrc/a.cpp:2:7: error: 'class Host' has no member named 'register_part'\n```"
    (says,) = [fact.says for fact in facts_of(tmp_path, files, "It does not build", text) if "other file" in fact.says]
    assert says.startswith("`register_part` is in 1 other file of")
    assert "`src/c.cpp`" in says
