"""The outline of one file of each language, and robustness against any file."""

from __future__ import annotations

import pytest

from nodes.search.languages.syntax import outline
from nodes.search.languages.table import LANGUAGES, language_of
from tests.support.growth import assert_cheap

Named = tuple[str, str, int, int]

CASES: tuple[tuple[str, str, list[Named]], ...] = (
    (
        "queue.c",
        """\
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct node {
    int value;
    struct node *next;
};
typedef struct { int size; } queue_t;
enum colour { RED, GREEN };
union number { int i; float f; };
static int push(struct node *head, int value)
{
    return MAX(value, head->value);
}
struct node *pop(struct node **head) {
    return *head;
}
int main(void) { return 0; }
int declared_elsewhere(int);
""",
        [
            ("MAX", "macro", 2, 2),
            ("node", "class", 3, 6),
            ("queue_t", "class", 7, 7),
            ("colour", "enum", 8, 8),
            ("number", "class", 9, 9),
            ("push", "function", 10, 13),
            ("pop", "function", 14, 16),
            ("main", "function", 17, 17),
        ],
    ),
    (
        "shape.cpp",
        """\
#include <vector>
namespace geo {
class Shape {
public:
    Shape(int sides);
    virtual ~Shape() {}
    int sides() const { return n; }
    bool operator==(const Shape &other) const {
        return n == other.n;
    }
private:
    int n;
};
struct Point { int x, y; };
enum class Side { Left, Right };
template <typename T> T twice(T value) {
    return value + value;
}
using Points = std::vector<Point>;
}
int geo::Shape::area(int scale) {
    return scale;
}
int main() { return 0; }
""",
        [
            ("geo.Shape", "class", 3, 13),
            ("geo.Shape.~Shape", "method", 6, 6),
            ("geo.Shape.sides", "method", 7, 7),
            ("geo.Shape.operator==", "method", 8, 10),
            ("geo.Point", "class", 14, 14),
            ("geo.Side", "enum", 15, 15),
            ("geo.twice", "method", 16, 18),
            ("geo.Points", "type", 19, 19),
            ("geo.Shape.area", "method", 21, 23),
            ("main", "function", 24, 24),
        ],
    ),
    (
        "Cart.cs",
        """\
using System.Linq;
namespace Shop
{
    public interface IPriced { decimal Price(); }
    public enum State { Open, Paid }
    public record Line(string Name, int Count);
    public delegate void Changed(Cart cart);
    public class Cart : IPriced
    {
        public Cart() { }
        public int Count { get; set; }
        public decimal Price()
        {
            decimal Sum(int n) => n;
            return Sum(2);
        }
        struct Key { }
    }
}
""",
        [
            ("IPriced", "interface", 4, 4),
            ("IPriced.Price", "method", 4, 4),
            ("State", "enum", 5, 5),
            ("Line", "class", 6, 6),
            ("Changed", "type", 7, 7),
            ("Cart", "class", 8, 18),
            ("Cart.Cart", "method", 10, 10),
            ("Cart.Count", "method", 11, 11),
            ("Cart.Price", "method", 12, 16),
            ("Cart.Price.Sum", "method", 14, 14),
            ("Cart.Key", "class", 17, 17),
        ],
    ),
    (
        "store.go",
        """\
package store

import "fmt"

type Store struct {
	items map[string]int
}

type Getter interface {
	Get(key string) (int, error)
}

type Kind int

type Pair[T any] struct{ a, b T }

func New() *Store {
	return &Store{}
}

func (s *Store) Get(key string) (int, error) {
	return s.items[key], fmt.Errorf("no such key")
}

func (k Kind) String() string { return "kind" }

func (p Pair[T]) First() T { return p.a }
""",
        [
            ("Store", "class", 5, 7),
            ("Getter", "interface", 9, 11),
            ("Kind", "type", 13, 13),
            ("Pair", "class", 15, 15),
            ("New", "function", 17, 19),
            ("Store.Get", "method", 21, 23),
            ("Kind.String", "method", 25, 25),
            ("Pair.First", "method", 27, 27),
        ],
    ),
    (
        "Parser.java",
        """\
package org.example;

import java.util.List;

@Deprecated
public class Parser {
    public Parser(String text) {
    }

    @Override
    public String toString() {
        return "a parser";
    }

    interface Visitor {
        void visit(int node);
    }

    enum Mode { FAST, SAFE }

    record Token(String text, int at) { }

    static class Inner {
        int depth() { return 1; }
    }
}

@interface Marked { }
""",
        [
            ("Parser", "class", 5, 26),
            ("Parser.Parser", "method", 7, 8),
            ("Parser.toString", "method", 10, 13),
            ("Parser.Visitor", "interface", 15, 17),
            ("Parser.Visitor.visit", "method", 16, 16),
            ("Parser.Mode", "enum", 19, 19),
            ("Parser.Token", "class", 21, 21),
            ("Parser.Inner", "class", 23, 25),
            ("Parser.Inner.depth", "method", 24, 24),
            ("Marked", "interface", 28, 28),
        ],
    ),
    (
        "app.js",
        """\
import { read } from "./reader.js";
const fs = require("fs");
export default function start(port) {
  return port;
}
export class Server extends Base {
  constructor() { super(); }
  async listen(port) {
    return port;
  }
  close = () => {
    this.open = false;
  };
  static of() { return new Server(); }
}
const helper = (x) => x + 1;
var legacy = function () {};
function* ids() { yield 1; }
Server.prototype.stop = function () {
  return 1;
};
exports.run = () => 2;
const routes = { index: () => 1 };
""",
        [
            ("start", "function", 3, 5),
            ("Server", "class", 6, 15),
            ("Server.constructor", "method", 7, 7),
            ("Server.listen", "method", 8, 10),
            ("Server.close", "method", 11, 13),
            ("Server.of", "method", 14, 14),
            ("helper", "function", 16, 16),
            ("legacy", "function", 17, 17),
            ("ids", "function", 18, 18),
            ("Server.stop", "method", 19, 21),
            ("exports.run", "method", 22, 22),
            ("routes.index", "method", 23, 23),
        ],
    ),
    (
        "Repo.kt",
        """\
package org.example

import kotlin.math.max

interface Source {
    fun read(): String
}

class Repo(val name: String) : Source {
    override fun read(): String {
        return name
    }

    companion object {
        fun open(path: String) = Repo(path)
    }
}

object Registry {
    fun register(repo: Repo) { }
}

enum class Level { LOW, HIGH }

typealias Names = List<String>

fun String.shout(): String = uppercase()
""",
        [
            ("Source", "interface", 5, 7),
            ("Source.read", "method", 6, 6),
            ("Repo", "class", 9, 17),
            ("Repo.read", "method", 10, 12),
            ("Repo.open", "method", 15, 15),
            ("Registry", "class", 19, 21),
            ("Registry.register", "method", 20, 20),
            ("Level", "enum", 23, 23),
            ("Names", "type", 25, 25),
            ("shout", "function", 27, 27),
        ],
    ),
    (
        "Mailer.php",
        r"""<?php
namespace App;

use App\Models\User;

interface Sends { public function send(string $to): bool; }

trait Logs {
    protected function log(string $line): void {
    }
}

enum Status: string { case Sent = 'sent'; }

final class Mailer implements Sends
{
    use Logs;

    public function __construct(private User $user) {}

    public function send(string $to): bool
    {
        return true;
    }
}

function helper(): int {
    return 1;
}
""",
        [
            ("Sends", "interface", 6, 6),
            ("Sends.send", "method", 6, 6),
            ("Logs", "class", 8, 11),
            ("Logs.log", "method", 9, 10),
            ("Status", "enum", 13, 13),
            ("Mailer", "class", 15, 25),
            ("Mailer.__construct", "method", 19, 19),
            ("Mailer.send", "method", 21, 24),
            ("helper", "function", 27, 29),
        ],
    ),
    (
        "lexer.py",
        """\
import os
from dataclasses import dataclass


@dataclass
class Token:
    text: str

    @property
    def length(self):
        return len(self.text)


class Lexer(object):
    async def scan(self, text):
        def inner():
            return 1

        return inner()

    class State:
        pass


def main():
    return "no such token"
""",
        [
            ("Token", "class", 5, 11),
            ("Token.length", "method", 9, 11),
            ("Lexer", "class", 14, 22),
            ("Lexer.scan", "method", 15, 19),
            ("Lexer.scan.inner", "method", 16, 17),
            ("Lexer.State", "class", 21, 22),
            ("main", "function", 25, 26),
        ],
    ),
    (
        "invoice.rb",
        """\
require "date"

module Billing
  class Error < StandardError; end

  class Invoice
    def initialize(total)
      @total = total
    end

    def self.open(path)
      new(path)
    end

    def paid?
      true
    end

    def ==(other)
      other.total == @total
    end
  end
end

def helper(x) = x + 1

class Billing::Report
  def to_s
    "a report"
  end
end
""",
        [
            ("Billing", "module", 3, 23),
            ("Billing.Error", "class", 4, 4),
            ("Billing.Invoice", "class", 6, 22),
            ("Billing.Invoice.initialize", "method", 7, 9),
            ("Billing.Invoice.open", "method", 11, 13),
            ("Billing.Invoice.paid?", "method", 15, 17),
            ("Billing.Invoice.==", "method", 19, 21),
            ("helper", "method", 25, 25),
            ("Billing.Report", "class", 27, 31),
            ("Billing.Report.to_s", "method", 28, 30),
        ],
    ),
    (
        "pool.rs",
        """\
use std::io;

pub struct Pool<T> {
    items: Vec<T>,
}

pub enum Fault { Full, Closed(u8) }

pub trait Drain {
    fn drain(&mut self) -> usize;
    fn empty(&self) -> bool { true }
}

impl<T> Pool<T> {
    pub fn new() -> Self {
        Pool { items: vec![] }
    }
}

impl<T> Drain for Pool<T> {
    fn drain(&mut self) -> usize { 0 }
}

type Alias = Pool<u8>;

macro_rules! square {
    ($x:expr) => { $x * $x };
}

mod inner {
    pub fn deep() {}
}

#[test]
fn works() {}
""",
        [
            ("Pool", "class", 3, 5),
            ("Fault", "enum", 7, 7),
            ("Drain", "interface", 9, 12),
            ("Drain.drain", "method", 10, 10),
            ("Drain.empty", "method", 11, 11),
            ("Pool.new", "method", 15, 17),
            ("Pool.drain", "method", 21, 21),
            ("Alias", "type", 24, 24),
            ("square", "macro", 26, 28),
            ("inner", "module", 30, 32),
            ("inner.deep", "method", 31, 31),
            ("works", "function", 34, 35),
        ],
    ),
    (
        "Board.scala",
        """\
package org.example

import scala.util.Try

trait Piece {
  def moves: List[Int]
}

class Board(size: Int) {
  def place(piece: Piece): Board = {
    this
  }

  def +(other: Board): Board = other
}

object Board {
  def empty: Board = new Board(8)
}

case class Move(from: Int, to: Int)

enum Side {
  case White, Black
}

type Score = Int
""",
        [
            ("Piece", "interface", 5, 7),
            ("Piece.moves", "method", 6, 6),
            ("Board", "class", 9, 15),
            ("Board.place", "method", 10, 12),
            ("Board.+", "method", 14, 14),
            ("Board", "class", 17, 19),
            ("Board.empty", "method", 18, 18),
            ("Move", "class", 21, 21),
            ("Side", "enum", 23, 25),
            ("Score", "type", 27, 27),
        ],
    ),
    (
        "Client.swift",
        """\
import Foundation

protocol Fetching {
    func fetch(_ url: String) -> String
}

class Client: Fetching {
    init(host: String) {
    }

    deinit {
    }

    func fetch(_ url: String) -> String {
        return url
    }
}

struct Reply { let code: Int }

enum Fault: Error { case timeout }

extension Client {
    func retry() {}
}

actor Counter { func up() {} }

typealias Handler = (Reply) -> Void

func main() {}
""",
        [
            ("Fetching", "interface", 3, 5),
            ("Fetching.fetch", "method", 4, 4),
            ("Client", "class", 7, 17),
            ("Client.init", "method", 8, 9),
            ("Client.deinit", "method", 11, 12),
            ("Client.fetch", "method", 14, 16),
            ("Reply", "class", 19, 19),
            ("Fault", "enum", 21, 21),
            ("Client.retry", "method", 24, 24),
            ("Counter", "class", 27, 27),
            ("Counter.up", "method", 27, 27),
            ("Handler", "type", 29, 29),
            ("main", "function", 31, 31),
        ],
    ),
    (
        "model.ts",
        """\
import { Base } from "./base";
export interface Shape { area(): number; }
export enum Side { Left, Right }
export type Point = { x: number };
export abstract class Model<T> extends Base {
  private readonly cache = (key: string): T => this.load(key);
  constructor(private name: string) { super(); }
  abstract load(key: string): T;
  get size(): number {
    return 1;
  }
}
namespace Inner {
  export function deep(): void {}
}
export const build = async <T,>(x: T): Promise<T> => x;
export default function run(a: string): void {
  return;
}
""",
        [
            ("Shape", "interface", 2, 2),
            ("Side", "enum", 3, 3),
            ("Point", "type", 4, 4),
            ("Model", "class", 5, 12),
            ("Model.cache", "method", 6, 6),
            ("Model.constructor", "method", 7, 7),
            ("Model.load", "method", 8, 8),
            ("Model.size", "method", 9, 11),
            ("Inner", "module", 13, 15),
            ("Inner.deep", "method", 14, 14),
            ("build", "function", 16, 16),
            ("run", "function", 17, 19),
        ],
    ),
    (
        "View.tsx",
        """\
import React from "react";
type Props = { name: string };
interface State { open: boolean }
export const Title = ({ name }: Props) => <h1>{name}</h1>;
export function Page(props: Props): JSX.Element {
  const onClick = () => {};
  return <Title name="x" />;
}
export class Panel extends React.Component<Props, State> {
  render() {
    return <div />;
  }
}
enum Tab { One }
""",
        [
            ("Props", "type", 2, 2),
            ("State", "interface", 3, 3),
            ("Title", "function", 4, 4),
            ("Page", "function", 5, 8),
            ("Page.onClick", "method", 6, 6),
            ("Panel", "class", 9, 13),
            ("Panel.render", "method", 10, 12),
            ("Tab", "enum", 14, 14),
        ],
    ),
)


@pytest.mark.parametrize(("name", "source", "expected"), CASES, ids=[case[0] for case in CASES])
def test_definitions(name: str, source: str, expected: list[Named]) -> None:
    read = outline(name, source.encode())
    assert [(d.name, d.kind, d.start_line, d.end_line) for d in read.definitions] == expected
    assert read.language == language_of(name)


def test_no_language_goes_untested() -> None:
    assert {language_of(name) for name, _, _ in CASES} == {one.name for one in LANGUAGES if one.package} - {"component"}


@pytest.mark.parametrize(("name", "source", "_expected"), CASES, ids=[case[0] for case in CASES])
def test_other_line_endings_and_a_truncation_move_no_definition(name: str, source: str, _expected: list[Named]) -> None:
    whole = outline(name, source.encode()).definitions
    assert outline(name, source.replace("\n", "\r\n").encode()).definitions == whole
    cut = outline(name, source.encode()[: len(source) // 2])
    assert all(1 <= d.start_line <= d.end_line <= source.count("\n") + 1 for d in cut.definitions)


@pytest.mark.parametrize(
    ("name", "source", "imports", "strings"),
    [
        pytest.param("a.py", "import os.path as p\nfrom .x import y\n", ("os.path", ".x"), (), id="python"),
        pytest.param(
            "a.js", 'import a from "./b.js";\nconst c = require("d");\n', ("./b.js", "d"), (), id="javascript"
        ),
        pytest.param(
            "a.go", 'import "net/http"\nvar e = "no such key"\n', ("net/http",), ((2, "no such key"),), id="go"
        ),
        pytest.param("a.c", '#include <stdio.h>\n#include "b.h"\n', ("stdio.h", "b.h"), (), id="c"),
        pytest.param("a.rs", "use std::io;\n", ("std::io",), (), id="rust"),
        pytest.param("a.py", "x = 'one'\ny = f'two words'\n", (), ((2, "two words"),), id="one-word-is-no-message"),
    ],
)
def test_imports_and_messages(
    name: str, source: str, imports: tuple[str, ...], strings: tuple[tuple[int, str], ...]
) -> None:
    read = outline(name, source.encode())
    assert (read.imports, read.strings) == (imports, strings)


HOSTILE = {
    "empty": b"",
    "nul": b"\0\0\0",
    "nul-far-inside": b"x\n" * 5_000 + b"\0\n",
    "not-utf-8": b"\xff\xfe def \x80(): pass\nclass \xc3\x28 {}\n",
    "open-brackets": b"(\n" * 2_000,
    "nested-brackets": b"(" * 2_000 + b"\n" * 20 + b")" * 2_000,
    "open-braces": b"{\n" * 2_000,
    "one-open-string": b'"' + b"a\n" * 2_000,
    "one-line": b"x = 1; " * 100_000,
    "only-a-mark": b"\xef\xbb\xbf",
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", [case[0] for case in CASES])
def test_any_source_is_parsed(name: str, source: bytes) -> None:
    read = outline(name, source)
    assert read.language in (language_of(name), "text")
    for definition in read.definitions:
        definition.name.encode()


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.PY", "python"),
        ("a.d.ts", "typescript"),
        ("x/y.tsx", "tsx"),
        ("lib/thing.h", "c"),
        ("lib/thing.hpp", "cpp"),
        ("zsh/zshrc", "shell"),
        ("Makefile", None),
        (".py", None),
        ("dir.py/notes", None),
        ("a.", None),
        ("", None),
    ],
)
def test_the_language_follows_from_the_extension(path: str, language: str | None) -> None:
    assert language_of(path) == language
    if language is None:
        assert outline(path, b"def f(): pass\n").language == "text"


@pytest.mark.tried("source files made to be slow to parse, in each language")
def test_unclosed_comments_take_linear_time() -> None:
    hostile = b"func f() {}\n" + b"/*" * 50_000
    assert outline("a.swift", hostile).definitions == ()
    assert_cheap(lambda: outline("a.swift", hostile), 10.0)
    globs = b'const all = ["src/**/*.ts", "test/**/*.ts"]\nfunction walk() {}\n'
    assert [one.name for one in outline("a.js", globs).definitions][-1] == "walk"
