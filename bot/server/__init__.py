"""The web server: the webhook, the pages, the HTTP API and the limits on connections."""
