"""Metrics under the names that /metrics shows; no label names a repository or a person (docs/decisions.md)."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

ANSWERS = CollectorRegistry()
"""Metrics of this process only: its answers to GitHub."""
WORK = CollectorRegistry()
"""Metrics of workers. ``shared`` adds them to the store, where every server reads the sum."""

DELIVERIES = Counter(
    "tracehound_deliveries", "Deliveries answered, by event and outcome.", ["event", "outcome"], registry=ANSWERS
)
ACKNOWLEDGED = Histogram(
    "tracehound_delivery_seconds",
    "Time from a delivery's first byte to the response.",
    registry=ANSWERS,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)
JOBS = Counter("tracehound_jobs", "Attempts at jobs, by kind and outcome.", ["kind", "outcome"], registry=WORK)
JOB_SECONDS = Histogram(
    "tracehound_job_seconds",
    "Duration of an attempt at a job.",
    ["kind"],
    registry=WORK,
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
NODE_SECONDS = Histogram(
    "tracehound_node_seconds",
    "Duration of one execution of a graph node.",
    ["node"],
    registry=WORK,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
MODEL_CALLS = Counter("tracehound_model_calls", "Requests to a model, by outcome.", ["model", "outcome"], registry=WORK)
MODEL_SECONDS = Histogram(
    "tracehound_model_seconds",
    "Duration of one request to a model, including the client's retries.",
    ["model"],
    registry=WORK,
    buckets=(0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120),
)
MODEL_TOKENS = Counter(
    "tracehound_model_tokens", "Tokens, as the model reports them.", ["model", "direction"], registry=WORK
)
MODEL_COST = Counter(
    "tracehound_model_cost_dollars", "Cost of models, by the prices in TRIAGE_CONFIG.", ["model"], registry=WORK
)
GITHUB_CALLS = Counter(
    "tracehound_github_calls", "Calls of GitHub's API; status 0 means no response.", ["method", "status"], registry=WORK
)
GITHUB_REMAINING = Gauge(
    "tracehound_github_limit_remaining",
    "Calls that GitHub still allows, by the latest response that gave a number.",
    ["resource"],
    registry=WORK,
)
REACHED_LIMITS = Counter(
    "tracehound_limits_reached", "Work postponed because a limit was reached, by limit.", ["limit"], registry=WORK
)

SHARED = (
    *(JOBS, JOB_SECONDS, NODE_SECONDS, MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS, MODEL_COST),
    *(GITHUB_CALLS, GITHUB_REMAINING, REACHED_LIMITS),
)
"""All metrics in WORK, in display order."""

QUEUE_JOBS = ("tracehound_queue_jobs", ("lane", "state"), "Jobs that are not done.")
QUEUE_OLDEST = ("tracehound_queue_oldest_seconds", ("lane",), "Age of the oldest due job that no worker has claimed.")
OUTCOMES = ("tracehound_outcomes", ("result",), "Reports, by the result of the comparison with the fix.")
GLANCE = (QUEUE_JOBS, QUEUE_OLDEST, OUTCOMES)
"""Metrics computed from the tables on request: name, labels, description."""
