"""From what is stored to what a page shows: pure functions, without a request, a store or a clock."""
