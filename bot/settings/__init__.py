"""Settings of the server, of a repository and of the operator."""
