# The image that action.yml runs. Unlike in Dockerfile the user is root, because a runner mounts the workspace as root's.
FROM python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && pip install --no-cache-dir uv==0.13.8
WORKDIR /src
# Each event starts a new container, which would compile all of its imports.
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/app PATH=/app/bin:$PATH PYTHONUNBUFFERED=1
COPY pyproject.toml uv.lock README.md LICENSE app.yml ./
RUN uv sync --frozen --no-dev --no-install-project
COPY bot bot
COPY nodes nodes
COPY prompts prompts
RUN uv sync --frozen --no-dev --no-editable
ENTRYPOINT ["triage"]
