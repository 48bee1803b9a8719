"""What the line of a frame did, by its error; and functions on which no claim rests."""

from __future__ import annotations

import pytest

from nodes.search.facts.levels import is_empty
from nodes.search.facts.output.happened import happened, is_assertion
from nodes.search.facts.output.on_a_line import subscripts
from tests.support.growth import assert_linear

NULL_POINTER = "java.lang.NullPointerException"


@pytest.mark.parametrize(
    ("line", "message", "asserts"),
    [
        pytest.param('start().expect("no room");', "no room: Os { code: 1 }", True, id="its-message"),
        pytest.param('start().expect("no room");', "no time: Os { code: 1 }", False, id="another-message"),
        pytest.param("start().unwrap();", "no room: Os { code: 1 }", False, id="no-message"),
    ],
)
def test_an_unwrapped_value_failed_only_with_its_own_message(line: str, message: str, asserts: bool):
    assert (happened(line, f"panic: {message}") is not None) is asserts


@pytest.mark.parametrize(
    ("line", "error", "message", "says"),
    [
        pytest.param("held = STOCK[sku]", "KeyError", "'A-1'", "looks up `sku` in `STOCK`", id="key"),
        pytest.param("held = STOCK[a][b]", "KeyError", "'A-1'", None, id="one-of-two-keys"),
        pytest.param(
            "held = STOCK['A-1'] + TAX[sku]", "KeyError", "'A-1'", "looks up `'A-1'` in `STOCK`", id="its-key"
        ),
        pytest.param("held = STOCK['A-2']", "KeyError", "'A-1'", None, id="key-of-another-name"),
        pytest.param(
            "$all['top'] = (int) $part[3];",
            "",
            "Undefined array key 3",
            "looks up `3` in `$part`",
            id="number-of-a-key",
        ),
        pytest.param("$all = isset($part['top']);", "", 'Undefined array key "top"', None, id="a-checked-key"),
        pytest.param("$all['top'] = $part[2];", "", "Undefined array key 3", None, id="another-number"),
        pytest.param(
            "local row, col = node:range()",
            "",
            "attempt to call method 'range' (a nil value)",
            "uses `node:range`",
            id="method-of-lua",
        ),
        pytest.param(
            "int n = row[at];", "", "index 5 out of bounds for type 'int [4]'", "reads `row[at]`", id="sanitizer"
        ),
        pytest.param(
            "public static function add(Zone $zone) {",
            "TypeError",
            "A\\Zone::add(): Argument #1 ($zone) must be of type A\\Zone, Zone given",
            None,
            id="where-it-is-defined",
        ),
        pytest.param(
            "return a.zone.zone(x)",
            "",
            "module 'a.zone' has no attribute 'zone'",
            "uses `a.zone.zone`",
            id="own-module",
        ),
        pytest.param(
            "if a.size < most:",
            "TypeError",
            "'<' not supported between instances of 'str' and 'int'",
            "has `a.size < most`",
            id="comparison",
        ),
        pytest.param(
            "if a <= b:",
            "TypeError",
            "'<' not supported between instances of 'str' and 'int'",
            None,
            id="another-operator",
        ),
        pytest.param(
            "total = count + name",
            "TypeError",
            "unsupported operand type(s) for +: 'int' and 'str'",
            "has `count + name`",
            id="operands",
        ),
        pytest.param(
            "a = b ** c * d",
            "TypeError",
            "unsupported operand type(s) for *: 'X' and 'int'",
            "has `c * d`",
            id="one-of-two-operators",
        ),
        pytest.param(
            "line = head + size",
            "TypeError",
            'can only concatenate str (not "int") to str',
            "has `head + size`",
            id="text",
        ),
        pytest.param(
            "f(node::Node, x)", "", "UndefVarError: `Node` not defined in `Acme`", "uses `Node`", id="julia-type"
        ),
        pytest.param(
            "return near / far;", "java.lang.ArithmeticException", "/ by zero", "divides by `far`", id="java-zero"
        ),
        pytest.param(
            "held = stock[:sku]", "KeyError", "key not found: :sku", "looks up `:sku` in `stock`", id="ruby-key"
        ),
        pytest.param(
            "held = stock[:sku]",
            "KeyError",
            "key :sku not found in: %{}",
            "looks up `:sku` in `stock`",
            id="elixir-key",
        ),
        pytest.param(
            'held = stock["sku"];',
            "KeyNotFoundException",
            "The given key 'sku' was not present in the dictionary.",
            'looks up `"sku"` in `stock`',
            id="dotnet-key",
        ),
        pytest.param("held = STOCK.get(sku)", "KeyError", "'A-1'", None, id="key-without-a-subscript"),
        pytest.param(
            "this.pop(row, or, any).close();", NULL_POINTER, "", "uses `.close` on what `this.pop(…)`", id="call"
        ),
        pytest.param("return a.b.c();", NULL_POINTER, "", None, id="one-of-two-values"),
        pytest.param("return Zone.of(x);", NULL_POINTER, "", None, id="a-type"),
        pytest.param(
            "int n = row.length();",
            NULL_POINTER,
            'Cannot invoke "String.length()" because "row" is null',
            "uses `.length` on `row`; the error says that this was `null`.",
            id="helpful-message",
        ),
        pytest.param(
            "int n = size();",
            NULL_POINTER,
            'Cannot invoke "String.length()" because "row" is null',
            None,
            id="other-line",
        ),
        pytest.param(
            "<a href={team.domain.replace(/^www./, '')}>x</a>",
            "TypeError",
            "Cannot read properties of undefined (reading 'replace')",
            "uses `.replace` on `team.domain`; the error says that this was `undefined`.",
            id="javascript",
        ),
        pytest.param(
            "x.close()", "AttributeError", "'NoneType' object has no attribute 'close'", "`None`", id="python"
        ),
        pytest.param(
            "x = self.x.y(1)",
            "AttributeError",
            "'Zone' object has no attribute 'y'. Did you mean: 'z'?",
            "uses `self.x.y`; the error says that this does not exist.",
            id="no-such-attribute",
        ),
        pytest.param("y = x.y", "AttributeError", "'Zone' object has no attribute 'y'", "uses `x.y`", id="assigned"),
        pytest.param(
            "a.y + b.y", "AttributeError", "'Zone' object has no attribute 'y'", None, id="one-of-two-members"
        ),
        pytest.param(
            "\\Zones\\Db\\Update::clear($x);", "Error", 'Class "Zones\\Db\\Update" not found', "`Update`", id="no-class"
        ),
        pytest.param("return step(x)", "NameError", "name 'step' is not defined", "uses `step`", id="no-name"),
        pytest.param(
            "helper.run x",
            "NoMethodError",
            "undefined method 'run' for an instance of Zone",
            "`helper.run`",
            id="no-method",
        ),
        pytest.param("row.grow()", "AttributeError", "'Zone' object has no attribute 'sum'", None, id="other-member"),
        pytest.param(
            "bar.size.x = 1",
            "",
            "Invalid access to property or key 'size' on a base object of type 'Nil'.",
            "uses `.size` on `bar`; the error says that this was `Nil`.",
            id="godot",
        ),
        pytest.param(
            "v[v.len() - 4]", "panic", "index out of bounds: the len is 3", "reads `v[v.len() - 4]`", id="index"
        ),
        pytest.param("r = total / len(a)", "ZeroDivisionError", "division by zero", "divides by `len(a)`", id="zero"),
        pytest.param("url = a + '/b' # 1 / x", "ZeroDivisionError", "division by zero", None, id="no-division"),
        pytest.param(
            "m.get(&k).unwrap()",
            "panic",
            "called `Option::unwrap()` on a `None` value",
            "unwraps `m.get(&k)`",
            id="rust",
        ),
        pytest.param(
            ".unwrap()", "panic", "called `Option::unwrap()` on a `None` value", "unwraps a value", id="rust-chain"
        ),
        pytest.param(
            "if (a.name.toString() != b) {",
            NULL_POINTER,
            "Attempt to invoke virtual method 'java.lang.String a.Name.toString()' on a null object reference",
            "uses `.toString` on `a.name`; the error says that this was `null`.",
            id="android",
        ),
        pytest.param(
            'value.path:match(".*"),',
            "error",
            "attempt to index field 'path' (a nil value)",
            "uses `value.path`; the error says that this was `nil`.",
            id="lua",
        ),
        pytest.param(
            "x = pos[1] + pos[2]", "", "attempt to index a nil value (local 'pos')", "uses `pos`", id="newer-lua"
        ),
        pytest.param("x = y[1]", "", "attempt to index local 'pos' (a nil value)", None, id="lua-of-another-line"),
        pytest.param(
            "a = b?.size ?? c.size",
            "TypeError",
            "Cannot read properties of undefined (reading 'size')",
            "uses `.size` on `c`; the error says that this was `undefined`.",
            id="optional-chaining",
        ),
        pytest.param("_state!._error = 1;", "", "Null check operator used on a null value", "uses `_state`", id="dart"),
        pytest.param("if (a != b) {", "", "Null check operator used on a null value", None, id="dart-inequality"),
        pytest.param("a!.x = b!.y;", "", "Null check operator used on a null value", None, id="dart-one-of-two"),
        pytest.param(
            "draw(row[:width])", "panic", "slice bounds out of range [:-1]", "slices `row[:width]`", id="go-slice"
        ),
        pytest.param("draw(row[i])", "panic", "slice bounds out of range [:-1]", None, id="go-without-slice"),
        pytest.param(
            "with bar() as bar:",
            "UnboundLocalError",
            "cannot access local variable 'bar' where it is not associated with a value",
            "uses the variable `bar`; the error says that it has no value yet.",
            id="unbound",
        ),
        pytest.param(
            "ETC=$2",
            "",
            "install.sh: line 6: $2: unbound variable",
            "uses the variable `$2`; the error says that it has no value yet.",
            id="unset-in-a-shell",
        ),
        pytest.param(
            "return call_user_func([$model, $name], $zones);",
            "",
            "TypeError: call_user_func(): Argument #1 ($callback) must be a valid callback, no array or string given",
            "has `call_user_func(…)`; the error says “call_user_func(): Argument #1”.",
            id="php-built-in",
        ),
        pytest.param(
            "$m = \\trim($rows[1], ',');",
            "TypeError",
            "trim(): Argument #1 ($string) must be of type string, null given",
            "passes `$rows[1]` to `trim`; the error says that this was `null`.",
            id="php-argument",
        ),
        pytest.param(
            "$icon = new Icon($type);",
            "TypeError",
            "zones\\Icon::__construct(): Argument #1 ($kind) must be of type string, null given",
            "passes `$type` to `Icon`; the error says that this was `null`.",
            id="php-constructor",
        ),
        pytest.param(
            "return at($x);", "TypeError", "at(): Argument #2 must be of type int, null given", None, id="php-default"
        ),
        pytest.param(
            "  def run(%{a: a}, [:list], _) do",
            "FunctionClauseError",
            "no function clause matching in Cmd.Config.run/3",
            "has the first clause of `run/3` on this line",
            id="elixir",
        ),
        pytest.param("assert x > 0", "AssertionError", "", "fails its own check", id="assertion"),
    ],
)
def test_what_a_line_did(line: str, error: str, message: str, says: str | None):
    found = happened(line, f"{error}: {message}")
    assert (says in found.says) if says else found is None


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        (
            "$n = $this->user()->name;",
            'Warning: Attempt to read property "name" on null',
            "`.name` on what `$this->user()`",
        ),
        ("my $n = $row->name;", 'Can\'t call method "name" on an undefined value', "uses `.name` on `$row`"),
        (
            "x = row.zone.name",
            "TypeError: undefined is not an object (evaluating 'row.zone.name')",
            "`.name` on `row.zone`",
        ),
        (
            "x = row.zone.name",
            'TypeError: can\'t access property "name", row.zone is undefined',
            "`.name` on `row.zone`",
        ),
        ("row.zone.name()", "(UndefinedFunctionError) function nil.name/0 is undefined", "`.name` on `row.zone`"),
        ("$x = $row['user'];", "Warning: Trying to access array offset on value of type null", "uses `$row`"),
        ("$x = $row['a']['b'];", "Warning: Trying to access array offset on null", None),
        (
            "x = held['a']",
            "TypeError: 'NoneType' object is not subscriptable",
            "uses `held`; the error says that this was `None`",
        ),
        ('say("{}...", &ctx[..8000]);', "byte index 20 is not a char boundary", None),
        ("let a = &ctx[..20];", "byte index 20 is not a char boundary", "has `&ctx[..20]`"),
        ("let a = &ctx[..n];", "byte index 20 is not a char boundary", "has `&ctx[..n]`"),
        ("return (boolean) $wet;", "Non-canonical cast (boolean) is deprecated", "has `(boolean) $wet`"),
        ("for a in self.rows:", "TypeError: 'NoneType' object is not iterable", "uses `self.rows`"),
        (
            "Service.call(this, name);",
            "TypeError: Class constructor Service cannot be invoked without 'new'",
            "has `Service.call(…)`",
        ),
        ("x, y = held", "TypeError: 'NoneType' object is not iterable", None),
        (
            "foreach ($this->rows() as $a) {",
            "foreach() argument must be of type array|object, null given",
            "`$this->rows()`",
        ),
        ("$x = $this->name;", "Warning: Undefined property: App\\Foo::$name", "uses `$this->name`"),
        ("echo $name;", "Warning: Undefined variable $name", "uses the variable `name`"),
        ("echo $names;", "Warning: Undefined variable $name", None),
        (
            "$n += strlen($row['note']);",
            "Deprecated: strlen(): Passing null to parameter #1 ($string) of type string is deprecated",
            "passes `$row['note']` to `strlen`; the error says that this was `null`",
        ),
        (
            "x = rows.map(f);",
            "TypeError: rows.map is not a function",
            "has `rows.map`; the error says “rows.map is not a function”",
        ),
        ("x = some.rows.map(f);", "TypeError: rows.map is not a function", None),
        (
            "const { a } = props.user;",
            "Cannot destructure property 'a' of 'props.user' as it is undefined.",
            "has `props.user`",
        ),
        ("return zone(a)", "TypeError: zone() missing 1 required positional argument: 'b'", "has `zone(…)`"),
        ("return Zone(a, b=1)", "TypeError: Zone.__init__() got an unexpected keyword argument 'b'", "has `b`"),
        ("a, b = line.split(':')", "ValueError: too many values to unpack (expected 2)", "has `a, b`"),
        (
            "Zone z = (Zone) held;",
            "java.lang.ClassCastException: class a.Row cannot be cast to class a.Zone",
            "has `(Zone) held`",
        ),
        ("x := held.(string)", "panic: interface conversion: interface {} is nil, not string", "has `held.(string)`"),
        ("held[k] = v", "panic: assignment to entry in nil map", "has `held[k]`"),
        ("if held[k] == v {", "panic: assignment to entry in nil map", None),
        (
            "loop = asyncio.get_event_loop()",
            "RuntimeError: There is no current event loop in thread",
            "has `asyncio.get_event_loop()`",
        ),
        (
            "x = int(rows[0])",
            "TypeError: only 0-dimensional arrays can be converted to Python scalars",
            "has `int(rows[0])`",
        ),
        ("$x = $names[$row['kind']];", "Using null as an array offset is deprecated", "has `$names[$row['kind']]`"),
        ("$x = $names['kind'];", "Using null as an array offset is deprecated", None),
        ("$this->rows->attach($x);", "Method Rows::attach() is deprecated since 8.5", "has `attach(…)`"),
        ("function f(Row $row = null) {", "Implicitly marking parameter $row as nullable", "has `Row $row = null`"),
        (
            "'row' => fn(string $row = null) => $row,",
            "Implicitly marking parameter $row as nullable",
            "has `string $row",
        ),
        ("close(done)", "panic: close of closed channel", "has `close(done)`"),
        ("let x = a - b;", "attempt to subtract with overflow", "has `a - b`"),
        ("let x = a - b - c;", "attempt to subtract with overflow", None),
        ("fn at(a: u8) -> u8 {", "attempt to subtract with overflow", None),
        ("let x = y.borrow_mut();", "already borrowed: BorrowMutError", "has `y.borrow_mut()`"),
        (
            "final x = json['a'] as String;",
            "type 'Null' is not a subtype of type 'String' in type cast",
            "has `json['a'] as String`",
        ),
        ("show(zone.name)", "lateinit property zone has not been initialized", "has `zone`"),
        ("let x = row.zone!.name", "Unexpectedly found nil while unwrapping an Optional value", "has `row.zone!`"),
    ],
)
def test_what_a_line_did_in_more_languages(line: str, error: str, says: str | None):
    found = happened(line, error)
    assert (found is not None and says in found.says) if says else found is None


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("", "uses `.length` on `row`; this was `null` if the line has not moved."),
        (
            'Cannot invoke "S.length()" because "row" is null',
            "uses `.length` on `row`; the error says that this was `null`.",
        ),
    ],
)
def test_an_error_without_a_name_may_be_of_another_line(message: str, says: str):
    found = happened("int n = row.length();", f"{NULL_POINTER}: {message}")
    assert found is not None
    assert found.at("count", is_known=False) == f"`count` {says}"


@pytest.mark.parametrize(("column", "says"), [(12, "reads `a[0]`"), (18, "reads `b[i]`"), (3, None), (None, None)])
def test_a_column_tells_one_of_two_indexes(column: int | None, says: str | None):
    found = happened("    f(x, &(a[0], b[i]))", "panic: index out of bounds: the len is 0", column)
    assert (says in found.says) if says else found is None


@pytest.mark.parametrize(
    ("line", "asserts"), [("assert x", True), ("debug_assert!(x)", True), ("a.expect('x')", True), ("a.b(x)", False)]
)
def test_assertions(line: str, *, asserts: bool):
    assert is_assertion(line) == asserts


@pytest.mark.parametrize("filler", ["a[", "a.b(", "x.y ", "]", "a?.", "/ a"])
def test_a_long_line_costs_linear_time(filler: str):
    assert_linear(lambda text: happened(text[:300], f"KeyError: {text}"), lambda size: filler * size, 2_000)


@pytest.mark.parametrize(
    ("text", "empty"),
    [
        pytest.param('def hook(self):\n    """Left for overriding."""\n', False, id="nothing-at-all"),
        pytest.param('def hook(self):\n    """Left for overriding.\n\n    More.\n    """\n    pass', True, id="pass"),
        pytest.param("def hook(self):\n    return None", True, id="returns-nothing"),
        pytest.param("void hook() {\n  // nothing\n}", True, id="braces"),
        pytest.param("def hook(self):\n    return self.x", False, id="returns-a-value"),
        pytest.param("class Zone:\n    size = 3\n", False, id="a-class"),
    ],
)
def test_a_function_that_is_empty_on_purpose(text: str, *, empty: bool):
    assert is_empty(text.split("\n")) == empty


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("var all *set.Set[types.View]", []),
        ("var sizes map[string]int", []),
        ("def f(rows: dict[str, Any]) -> list[int]:", []),
        ("val one: Option[Zone] = rows[at]", ["rows[at]"]),
        ("return Colour[name]", ["Colour[name]"]),
        ("return rows()[self.line()]", ["rows()[self.line()]"]),
    ],
)
def test_the_arguments_of_a_type_are_no_subscript(line: str, shown: list[str]):
    assert [f"{item.value}[{item.key}]" for item in subscripts(line)] == shown


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (22, "looks up `row.id` in `rows[ZONE]`"),
        (16, "looks up `ZONE` in `rows`"),
        (None, None),
    ],
)
def test_the_column_of_a_bracket_tells_which_key_is_missing(column: int | None, says: str | None):
    found = happened("    value = rows[ZONE][row.id]", "KeyError: 'x'", column and column + 1)
    assert (says in found.says) if says else found is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("rows.pop(row.id)", "looks up `row.id` in `rows`"),
        ("rows[ZONE].pop(row.id)", None),
        ("rows[ZONE].pop(row.id, None)", "looks up `ZONE` in `rows`"),
    ],
)
def test_a_key_that_is_popped_may_be_missing(line: str, says: str | None):
    found = happened(line, "KeyError: 'x'")
    assert (says in found.says) if says else found is None
