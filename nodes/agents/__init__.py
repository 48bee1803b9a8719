"""The nodes of the graph that the supervisor chooses from, one module each."""
