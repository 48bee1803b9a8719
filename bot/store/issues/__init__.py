"""Tables about issues: their state, questions, commands, and earlier issues."""
