"""The bounds of one run: rounds, retries, candidates, questions, redirects and parallel specialists."""

MAX_ITERATIONS = 8
MAX_RETRIES = 2
MAX_QUESTIONS = 2
MAX_REDIRECTS = 3
ROUNDS_PER_ANSWER = 2
ROUNDS_PER_REDIRECT = 3
ROUNDS_LIMIT = MAX_ITERATIONS + MAX_QUESTIONS * ROUNDS_PER_ANSWER + MAX_REDIRECTS * ROUNDS_PER_REDIRECT
"""The maximum number of rounds of any run, including those added by answers and redirects."""
MAX_PARALLEL = 3
"""Maximum further specialists in parallel; with more, findings would be cut before their evidence is numbered."""
CANDIDATES, CANDIDATES_ON_RETRY = 10, 20
"""Number of candidates fetched at first, and on a retry after a rejected draft (SPEC section 5)."""
