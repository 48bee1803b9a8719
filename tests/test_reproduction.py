"""What the example of an issue lacks, found without running it."""

from __future__ import annotations

import pytest

from nodes.issue.reproduction import check_example

READ = "The example was read, not run: "
TITLE = "Zones are wrong"


@pytest.mark.parametrize(
    ("code", "versions", "says"),
    [
        pytest.param(
            "import zones\nzones.load()", ("1.2",), "no missing import or input file was found.", id="complete"
        ),
        pytest.param(
            ">>> import zones\n>>> zones.load()\nnp.array(1)", (), "the report names no version.", id="prompt"
        ),
        pytest.param(
            "from zones import load\nx = np.zeros(3)\nload(x)",
            ("1.2",),
            "it uses `np` without an import or a definition.",
            id="import",
        ),
        pytest.param(
            "import zones\nwith open('own.csv') as f:\n    zones.load(f)\nopen('out.csv', 'w')",
            ("1.2",),
            "it reads `own.csv`, which the report does not contain.",
            id="input",
        ),
        pytest.param("import zones\nzones.load()\narray([1, 2])", ("1.2",), "no missing import", id="pasted-output"),
    ],
)
def test_gaps_of_an_example_are_listed(code: str, versions: tuple[str, ...], says: str):
    found = check_example(TITLE, f"Like so:\n\n```python\n{code}\n```\n", versions)
    assert found.startswith(READ + says)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("`import zones` fails.", id="no-example"),
        pytest.param("```\nimport zones from 'zones'\nzones.load()\n```", id="another-language"),
        pytest.param("```\nfrom zones import *\nload()\n```", id="star"),
        pytest.param("```\nimport zones\nself.load(zones)\n```", id="part-of-a-class"),
        pytest.param("```\nimport zones\nx = " + "(" * 3_000 + "\n```", id="deep"),
        pytest.param("```\nimport zones\nx = " + "-" * 7_000 + "1\n```", id="long-chain"),
        pytest.param("```\nimport zones\n" + "zones.load()\n" * 5_000 + "```", id="long"),
    ],
)
def test_an_example_that_cannot_be_checked_gives_no_sentence(body: str):
    assert check_example(TITLE, body, ()) == ""


def test_a_name_that_another_block_imports_is_not_missing():
    body = "```\nimport numpy as np\n```\n\nand then\n\n```\nimport zones\nzones.load(np)\n```\n\nwith `import os`\n"
    assert check_example(TITLE, body, ("1.2",)) == f"{READ}no missing import or input file was found."
