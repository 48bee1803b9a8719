"""Frames without a path are mapped to files by their class."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.git import Repository
from nodes.search.index.loading import load_index
from nodes.search.ranking.naming import files_of_frame
from nodes.search.types import Frame
from tests.support.repositories import make_repository

CLASS = "namespace Acme.Tools {{\n    public class {name} {{\n        public void {method}() {{ }}\n    }}\n}}\n"
FILES = {
    "AcmeV1/Tools/Reader.cs": CLASS.format(name="Reader", method="Open"),
    "AcmeV1/App/Reader.cs": CLASS.format(name="Reader", method="Close"),
    "AcmeV1/Tasks/Task.cs": CLASS.format(name="Task", method="Describe"),
    "AcmeV1/Program.cs": CLASS.format(name="Program", method="Main"),
}


@pytest.mark.parametrize(
    ("module", "function", "expected"),
    [
        pytest.param("Acme.Tools.Reader", "Open", ["AcmeV1/Tools/Reader.cs"], id="root-namespace-of-another-name"),
        pytest.param("AcmeV1.App.Reader", "Missing", ["AcmeV1/App/Reader.cs"], id="namespace-of-the-folder"),
        pytest.param("Acme.Tools.Reader", "Close", [], id="function-of-another-file"),
        pytest.param("System.Threading.Tasks.Task", "Run", [], id="class-of-a-library"),
        pytest.param("Acme.Program", "Main", [], id="only-the-class-agrees"),
        pytest.param("", "Open", [], id="without-a-class"),
    ],
)
def test_a_class_without_a_path_is_found_by_folder_and_function(
    tmp_path: Path, module: str, function: str, expected: list[str]
) -> None:
    make_repository(tmp_path / "r", FILES)
    repository = Repository.open(tmp_path / "r")
    index = load_index(repository, repository.resolve(), None, lambda *_: None).index
    found = files_of_frame(index, Frame("", None, function, module))
    assert [index.paths[number] for number in found] == expected
