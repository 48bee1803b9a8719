"""The slash commands: a parser, the commands by purpose, and what runs them."""
