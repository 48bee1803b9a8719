"""Elixir traces."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """** (KeyError) key :cost not found in: %{id: 1}
    (shop 0.1.0) lib/shop/cart.ex:12: Shop.Cart.total/1
    (elixir 1.15.0) lib/enum.ex:2510: Enum."-reduce/3-lists^foldl/2-0-"/3
    lib/run.exs:3: (file)""",
            "KeyError",
            "key :cost not found in: %{id: 1}",
            [("lib/shop/cart.ex", 12, "total"), ("lib/enum.ex", 2510, "reduce"), ("lib/run.exs", 3, "file")],
            id="plain",
        ),
        pytest.param(
            """10:11:12.345 [error] GenServer Shop.Worker terminating
** (RuntimeError) boom
    (shop) lib/shop/worker.ex:30: Shop.Worker.handle_call/3
    (stdlib 5.0) gen_server.erl:1113: :gen_server.try_handle_call/4""",
            "RuntimeError",
            "boom",
            [("lib/shop/worker.ex", 30, "handle_call"), ("gen_server.erl", 1113, "try_handle_call")],
            id="genserver",
        ),
        pytest.param(
            """  1) test adds (ShopTest)
     ** (FunctionClauseError) no function clause matching in Shop.add/2
     code: assert Shop.add(1)
     stacktrace:
       test/shop_test.exs:6: (test)""",
            "FunctionClauseError",
            "no function clause matching in Shop.add/2",
            [("test/shop_test.exs", 6, "test")],
            id="test",
        ),
        pytest.param(
            r"""** (ArgumentError) bad
    (shop 1.0.0) lib\shop\io.ex:8: Shop.IO.read("x")
    (shop 1.0.0) lib/shop.ex:9: anonymous fn/2 in Shop.each/1""",
            "ArgumentError",
            "bad",
            [("lib/shop/io.ex", 8, "read"), ("lib/shop.ex", 9, "each")],
            id="arguments",
        ),
        pytest.param(
            """** (FunctionClauseError) no function clause matching in Shop.add/1
    (shop 1.0.0) Shop.Cart.add([])
    (shop 1.0.0) lib/shop.ex:9: Shop.each/1""",
            "FunctionClauseError",
            "no function clause matching in Shop.add/1",
            [("shop/cart.ex", None, "add"), ("lib/shop.ex", 9, "each")],
            id="a-function-without-a-file",
        ),
        pytest.param(
            "It returns {:error, %FunctionClauseError{module: ShopWeb.CartLive, function: :add, arity: 2, kind: nil}}",
            "FunctionClauseError",
            None,
            [("shop_web/cart_live.ex", None, "add")],
            id="an-error-as-a-term",
        ),
        pytest.param(
            '%Shop.StaleError{\n  code: 4,\n  message: "the cart \\"a\\" is old"\n}\nmessage: "other"',
            "Shop.StaleError",
            'the cart \\"a\\" is old',
            [],
            id="an-error-as-a-term-of-several-lines",
        ),
        pytest.param(
            "{badarg,[{ets,lookup,[t,1],[]},{'shop_cart','-sum/1-fun-0-',\n   2,\n  [{file,\"src/shop_cart.erl\"},"
            '{line,14}]},\n {shop_cart,sum,1,[{file,"src/shop_cart.erl"},{line,12}]}]}',
            "badarg",
            None,
            [("src/shop_cart.erl", 14, "sum"), ("src/shop_cart.erl", 12, "sum")],
            id="frames-as-terms-of-erlang",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("elixir", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames


def test_the_module_is_retained():
    assert find_traces("** (A) b\n    lib/a.ex:1: Shop.Cart.total/1")[0].frames[0].module == "Shop.Cart"


def test_a_pattern_is_no_error():
    assert find_traces("rescue\n  e in %Shop.StaleError{} -> retry(e)") == []
