"""Tables of runs: their results, usage, outcomes and judgements."""
