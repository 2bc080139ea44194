#!/bin/sh
# Everything but torch and browser tests, on Python 3.12 or newer with the newest Panel, where such a Python is found.
set -eu
found=
for candidate in "${PYTHON_NEXT:-}" python3.14 python3.13 python3.12 "$HOME"/.pyenv/versions/3.1[2-9]*/bin/python3; do
  if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
    found=$candidate
  fi
done
if [ -z "$found" ]; then
  echo "test-next: no Python 3.12 or newer found (set PYTHON_NEXT to one); nothing was run"
  exit 0
fi
[ -x .venv-next/bin/python ] || "$found" -m venv .venv-next
.venv-next/bin/python -m pip install --quiet --disable-pip-version-check 'panel>=1.10,<1.11' -e . pytest hypothesis
.venv-next/bin/python -m pytest --ignore=tests/ui --ignore=tests/deploy --ignore=tests/load --ignore=tests/experiments --ignore=tests/training
