# The book for a cohort. Knobs: BOKEH_ALLOW_WS_ORIGIN (the host[:port] that readers type), PORT, and the data directory /data.
FROM python:3.11-slim

RUN useradd --create-home --uid 1000 book && mkdir /data && chown book /data
WORKDIR /book

# Torch, for the training workers alone and for the CPU alone. On x86-64 the plain index has a CUDA build of several GB:
# pass PyTorch's CPU index as a build argument (README, "For operators"); the second line stops the build otherwise.
ARG PIP_EXTRA_INDEX_URL=
COPY constraints.txt pyproject.toml ./
RUN pip install --no-cache-dir -c constraints.txt torch distributed numpy
RUN python -c "import sys, torch; sys.exit(torch.version.cuda and 'a CUDA build of torch: pass PIP_EXTRA_INDEX_URL, see README')"

COPY app app
COPY widgets widgets
COPY content content
RUN pip install --no-cache-dir -c constraints.txt -e .

USER book
ENV PORT=5006 BOOK_DATA=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 5006
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/liveness', timeout=4)"]
CMD ["sh", "-c", "exec panel serve app --address 0.0.0.0 --port $PORT --session-token-expiration 28800 --unused-session-lifetime 120000"]
