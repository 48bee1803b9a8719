# Two stages: build tools stay in the first. The last one contains Python, git and the App, and runs as an unprivileged user.
FROM python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3 AS build
RUN pip install --no-cache-dir uv==0.13.8
WORKDIR /src
# The App's user cannot write bytecode: without it every process would compile all of its imports.
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/app
COPY pyproject.toml uv.lock README.md LICENSE app.yml ./
RUN uv sync --frozen --no-dev --extra postgres --extra tools --extra otel --no-install-project
COPY bot bot
COPY nodes nodes
COPY prompts prompts
RUN uv sync --frozen --no-dev --extra postgres --extra tools --extra otel --no-editable

FROM python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /data --create-home tracehound
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1 TRIAGE_DATA_DIR=/data HOST=0.0.0.0 PORT=3000
USER tracehound
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# After SIGTERM running jobs get at most ten seconds to end.
STOPSIGNAL SIGTERM
ENTRYPOINT ["triage"]
CMD ["serve"]
