"""A repository with a file per language, each with a function around line 12, and reports of crashes there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

LINE = 12
_HEADS = {
    "py": "def fold(row, width):",
    "ts": "export function fold(row: string, width: number) {",
    "tsx": "export function Fold(props: any) {",
    "vue": "function fold(row, width) {",
    "js": "function fold(row, width) {",
    "go": "func Fold(row string, width int) int {",
    "rs": "pub fn fold(row: &str, width: usize) -> usize {",
    "c": "int fold(const char *row, int width) {",
    "cc": "int Book::Fold(const char *row, int width) {",
    "java": "  public int fold(String row, int width) {",
    "kt": "  fun foldAll(row: String, width: Int): Int {",
    "scala": "  def foldMost(row: String, width: Int): Int = {",
    "cs": "  public async Task<int> FoldAsync(string row, int width) {",
    "php": "  public function fold($row, $width) {",
    "rb": "  def fold(row, width)",
    "ex": "  def fold(row, width) do",
    "swift": "  func fold(row: String, width: Int) -> Int {",
}
_OPEN = {
    "go": "package ledger",
    "java": "package com.acme.ledger;\nclass Folder {",
    "kt": "package com.acme.ledger\nclass Folds {",
    "scala": "package com.acme.ledger\nclass Spread {",
    "cs": "namespace Acme.Ledger;\nclass Folder {",
    "php": "<?php\nclass Folder {",
    "rb": "class Ledger",
    "ex": "defmodule Acme.Ledger.Fold do",
    "swift": "class Ledger {",
    "vue": "<script>",
}
_PATHS = """
services/ledger/fold.py web/src/ledger/fold.ts web/src/ledger/Fold.tsx web/src/ledger/Board.vue web/lib/ledger.js
internal/ledger/fold.go crates/ledger/src/fold.rs native/ledger/fold.c native/ledger/book.cc
jvm/src/main/java/com/acme/ledger/Folder.java jvm/src/main/kotlin/com/acme/ledger/Folds.kt
jvm/src/main/scala/com/acme/ledger/Spread.scala jvm/src/acme/fold.clj dotnet/Acme.Ledger/Folder.cs src/Ledger/Folder.php
app/models/ledger.rb app/views/ledger/show.html.erb ios/Ledger/Ledger.swift lib/ledger/fold.ex lib/widgets/fold.dart
src/ui/fold.lua src/fold.zig src/fold.nim src/fold.cr src/Fold.jl R/fold.R lib/Acme/Fold.pm src/Acme/Fold.hs lib/fold.ml
bin/fold.sh infra/fold.tf charts/app/templates/fold.yaml roles/web/tasks/fold.yml cmake/Fold.cmake conf.d/fold.conf
chapters/fold.tex migrations/fold.sql autoload/fold.vim scripts/Fold.ps1 web/styles/fold.scss source/fold.d
src/fold.adb src/fold.f90 templates/fold.html.twig Assets/Fold.gd ui/Fold.qml Dockerfile
racket/fold.rkt scheme/fold.scm tcl/fold.tcl prolog/fold.pl erl/fold.erl v/fold.v
""".split()


def _content(path: str) -> str:
    """Return thirty lines; in languages with a head, lines 10 to 20 are the function's."""
    ending = path.rpartition(".")[2]
    head = _HEADS.get(ending)
    lines = _OPEN.get(ending, "").split("\n") if head else []
    mark = "#" if ending in ("py", "rb", "ex") else "//"
    lines = [*filter(None, lines)]
    while len(lines) < 9:
        lines.append(f"{mark} note {len(lines) + 1}")
    if head is None:
        return "\n".join(lines + [f"  place_{number} = row" for number in range(10, 31)]) + "\n"
    end = {"py": "    return row", "rb": "  end", "ex": "  end"}.get(ending, "  }")
    stop = "" if ending in ("py", "rb", "ex") else ";"
    lines += [head, *(f"    place_{number} = row{stop}" for number in range(11, 20)), end]
    lines += {"rb": ["end"], "ex": ["end"], "vue": ["</script>"]}.get(
        ending, ["}"] if ending in _OPEN and ending != "go" else []
    )
    return "\n".join(lines) + "\n"


FILES = {path: _content(path) for path in _PATHS}


class Report(NamedTuple):
    """A report, the file that it names, and the line there."""

    path: str
    body: str
    line: int = LINE


def _cases(table: str) -> dict[str, Report]:
    """Read cases, separated by lines of dashes: a line ``name path [line]``, then the body."""
    found = {}
    for block in table.strip("\n").split("\n---\n"):
        head, _, body = block.partition("\n")
        name, path, *line = head.split()
        found[name] = Report(path, body.replace("\\t", "\t"), int(line[0]) if line else LINE)
    return found


CRASHES = _cases((Path(__file__).parent / "crashes.txt").read_text(encoding="utf-8"))
