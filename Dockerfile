# Two images with the same layers: `server` (the default) and `action`, which action.yml runs. Build tools stay in the first
# stage. `make release-check` builds both, measures them (at most 300 MB above the base) and triages an issue with them.
ARG BASE=python:3.12-slim-bookworm@sha256:54c85f3c47607a77f32adec749d3c81d1348bf25833671f512b26a9b6d778cb3

FROM ${BASE} AS build
RUN apt-get update && apt-get install --yes --no-install-recommends binutils && pip install --no-cache-dir uv==0.13.8
WORKDIR /src
ENV UV_LINK_MODE=copy UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/app
COPY pyproject.toml uv.lock README.md LICENSE app.yml ./
# Removed: symbols for debuggers, the packages' own tests and stubs, and the models of GitHub's REST API, because
# bot/github sends its own requests. Libraries in *.libs were patched, which `strip` can damage.
RUN uv sync --frozen --no-dev --extra postgres --extra tools --extra otel --no-install-project \
    && cd /app/lib/python3*/site-packages \
    && find . -name '*.so' -type f ! -path '*.libs/*' -exec strip --strip-unneeded {} + \
    && find . -type d \( -name tests -o -name _tests -o -path ./numpy/f2py -o -path ./numpy/_core/include \
        -o -path './githubkit_schemas/[lv]*' \) -prune -exec rm -rf {} + \
    && find . -name '*.pyi' -delete
COPY bot bot
COPY nodes nodes
COPY prompts prompts
# The server's user cannot write bytecode, and each event of the Action starts a new container: without it every process
# would compile all of its imports.
RUN uv sync --frozen --no-dev --extra postgres --extra tools --extra otel --no-editable --compile-bytecode

FROM ${BASE} AS action
# Manuals, translations, and the libraries of Perl are left out: no git command that runs here needs them.
RUN printf 'path-exclude=%s\n' '/usr/share/doc/*' '/usr/share/locale/*' '/usr/share/man/*' '/usr/share/perl/*' \
        '/usr/lib/*/perl/*' >/etc/dpkg/dpkg.cfg.d/tracehound \
    && apt-get update \
    && apt-get install --yes --no-install-recommends git ca-certificates \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/*
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONUNBUFFERED=1
ENTRYPOINT ["triage"]

# The Action's user is root, because a runner mounts the workspace as root's. The server's has no rights.
FROM action AS server
RUN useradd --system --uid 10001 --home-dir /data --create-home --no-log-init tracehound
ENV TRIAGE_DATA_DIR=/data HOST=0.0.0.0 PORT=3000
USER tracehound
WORKDIR /data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/healthz', timeout=4)"]
# After SIGTERM running jobs get at most ten seconds to end.
STOPSIGNAL SIGTERM
CMD ["serve"]
