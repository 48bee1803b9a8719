"""Ruby traces: plain, Rails and RSpec."""

import pytest

from nodes.search.issue.stacktraces.families import find_traces


@pytest.mark.parametrize(
    ("text", "error", "message", "frames"),
    [
        pytest.param(
            """lib/cart.rb:12:in `total': undefined method `cost' for nil:NilClass (NoMethodError)
	from lib/cart.rb:5:in `block in each'
	from bin/run:3:in `<main>'""",
            "NoMethodError",
            "undefined method `cost' for nil:NilClass",
            [("lib/cart.rb", 12, "total"), ("lib/cart.rb", 5, "block in each"), ("bin/run", 3, "<main>")],
            id="backtick",
        ),
        pytest.param(
            """lib/cart.rb:12:in 'Shop::Cart#total': empty (Shop::EmptyError)
	from main.rb:1:in '<main>'""",
            "Shop::EmptyError",
            "empty",
            [("lib/cart.rb", 12, "Shop::Cart#total"), ("main.rb", 1, "<main>")],
            id="ruby-3.4",
        ),
        pytest.param(
            """Traceback (most recent call last):
	2: from main.rb:9:in `<main>'
	1: from main.rb:5:in `outer'
main.rb:2:in `inner': boom (RuntimeError)""",
            "RuntimeError",
            "boom",
            [("main.rb", 2, "inner"), ("main.rb", 5, "outer"), ("main.rb", 9, "<main>")],
            id="most-recent-last",
        ),
        pytest.param(
            """ActiveRecord::RecordNotFound (Couldn't find User with 'id'=7):

app/models/user.rb:20:in `load!'
C:/app/controllers/users_controller.rb:8:in `show'""",
            "ActiveRecord::RecordNotFound",
            "Couldn't find User with 'id'=7",
            [("app/models/user.rb", 20, "load!"), ("C:/app/controllers/users_controller.rb", 8, "show")],
            id="rails",
        ),
        pytest.param(
            """     NoMethodError:
       undefined method `x'
     # ./lib/a.rb:3:in `x'
     # ./spec/a_spec.rb:10:in `block (2 levels) in <top (required)>'""",
            "NoMethodError",
            "undefined method `x'",
            [("lib/a.rb", 3, "x"), ("spec/a_spec.rb", 10, "block (2 levels) in <top (required)>")],
            id="rspec",
        ),
    ],
)
def test_a_trace_is_read(text, error, message, frames):
    trace = find_traces(text)[0]
    assert (trace.language, trace.error, trace.message) == ("ruby", error, message)
    assert [(frame.path, frame.line, frame.function) for frame in trace.frames] == frames
