"""Calls to a model: budget, rate, requests that its server accepts, replies and their schema."""
