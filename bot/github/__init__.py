"""The GitHub client: authentication and the dozen calls that the bot makes, in its own types."""
