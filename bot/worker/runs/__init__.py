"""Jobs of the run lane: each starts or advances a run, publishes its outcome, or does nothing."""
