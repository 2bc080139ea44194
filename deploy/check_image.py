"""`python deploy/check_image.py ROOT`: runs the Dockerfile's steps, one by one, in a clean Debian root, where no Docker engine is at hand.

ROOT/base is made by debootstrap (a bookworm system with Python 3.11, which stands for python:3.11-slim) unless it exists, and
copied to ROOT/image, where every COPY, RUN, USER, ENV and CMD of the Dockerfile is carried out as written. Then the server is
started as the image's user on a root that cannot be written but for /data and /tmp, and asked for its health, a page and a
refusal to write. Needs root rights.
`--bind DIR` shows a directory of this machine inside, read-only (a local package index); environment variables that begin with
PIP_ go in. All mounts live in a mount namespace of their own and are gone when this ends, however it ends, so that ROOT can be
removed afterwards without touching anything else.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Iterator

PROJECT = Path(__file__).resolve().parent.parent
PACKAGES = "python3,python3-venv,python3-pip,ca-certificates"
IMAGE = "/usr/local/image"
PORT = 5996


def steps(dockerfile: str) -> Iterator[tuple[str, str]]:
    """Instructions of a Dockerfile in order, continuation lines joined, comments dropped."""
    lines = [line for line in dockerfile.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name.upper(), rest.strip()


class CleanRoot:
    """A Debian root in which commands run by chroot."""

    def __init__(self, path: Path, binds: list[Path]) -> None:
        base, path = path / "base", path / "image"
        self.path, self.workdir = path, "/"
        if not (base / "usr/bin/python3").exists():
            run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(base)])
        run(["rm", "-rf", "--one-file-system", str(path)])  # nothing is mounted in this namespace yet
        run(["cp", "-a", "--one-file-system", str(base), str(path)])
        for file in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):  # how this machine reaches and trusts its package index
            shutil.copy(f"/{file}", path / file)
        for folder in ("/proc", "/dev"):
            self.mount(folder, "--rbind", folder)
        for folder in map(str, binds):
            self.mount(folder, "--bind", folder)
            run(["mount", "-o", "remount,bind,ro", str(path / folder.lstrip("/"))])
        if not (path / IMAGE.lstrip("/")).exists():  # python and pip as the python image has them, outside of Debian's own management
            run(["chroot", str(path), "python3", "-m", "venv", IMAGE])
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self.environment = {"PATH": f"{IMAGE}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", **kept}

    def mount(self, inside: str, *how: str) -> None:
        target = self.path / inside.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        run(["mount", *how, str(target)])

    def make_read_only(self, user: str, writable: tuple[str, ...]) -> None:
        """Nothing but the `writable` folders, which the user owns and which are empty, can be written from here on."""
        run(["mount", "--bind", str(self.path), str(self.path)])
        run(["mount", "-o", "remount,bind,ro", str(self.path)])
        for folder in ("/proc", "/dev"):
            self.mount(folder, "--rbind", folder)
        for folder in writable:
            self.mount(folder, "-t", "tmpfs", "tmpfs")
        run(["chroot", str(self.path), "chown", user, *writable])

    def command(self, line: list[str], user: str | None = None) -> list[str]:
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        who = [f"--userspec={user}"] if user else []
        return ["chroot", *who, str(self.path), "env", "-i", *variables, "sh", "-c", f"cd {self.workdir} && exec {shlex.join(line)}"]


def run(command: list[str]) -> None:
    print("+", shlex.join(command)[:200], flush=True)
    subprocess.run(command, check=True)


def size(path: Path, *without: Path) -> float:
    """Megabytes on disk; what is mounted `without` belonging to the image does not count."""
    return int(subprocess.run(["du", "-sxm", *(f"--exclude={w}" for w in without), str(path)], capture_output=True, text=True, check=True).stdout.split()[0])


def build(root: CleanRoot) -> tuple[str | None, list[str]]:
    """Carries out the Dockerfile; returns the image's user and its command."""
    user, command = None, []
    for name, rest in steps((PROJECT / "Dockerfile").read_text()):
        if name == "RUN":
            started = time.monotonic()
            run(root.command(["sh", "-c", rest]))
            print(f"  {time.monotonic() - started:.0f} s", flush=True)
        elif name == "WORKDIR":
            root.workdir = rest
            (root.path / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                to = root.path / root.workdir.lstrip("/") / target
                if (PROJECT / source).is_dir():
                    shutil.copytree(PROJECT / source, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
                else:
                    shutil.copy(PROJECT / source, to)
        elif name == "ENV":
            root.environment |= dict(pair.partition("=")[::2] for pair in shlex.split(rest))
        elif name == "USER":
            user = rest
        elif name == "CMD":
            command = json.loads(rest)
        elif name not in ("FROM", "ARG", "VOLUME", "EXPOSE", "HEALTHCHECK"):
            raise SystemExit(f"Dockerfile: this check does not know {name}")
    return user, command


def serve(root: CleanRoot, user: str, command: list[str]) -> None:
    """Starts the image's command as its user on a read-only root and asks it the questions a reader and an orchestrator ask."""
    root.environment["PORT"] = str(PORT)
    root.make_read_only(user, ("/tmp", "/data"))
    server = subprocess.Popen(root.command(command, user))
    try:
        base = f"http://127.0.0.1:{PORT}"
        for _ in range(200):
            try:
                urllib.request.urlopen(f"{base}/liveness", timeout=2).read()
                break
            except OSError:
                time.sleep(0.1)
        page = urllib.request.urlopen(f"{base}/app?page=three_tokens", timeout=10).read().decode()
        assert 'data-array="weights"' in page, "the page has no weights"
        refused = subprocess.run(root.command(["touch", "/book/app/written"], user), capture_output=True)
        assert refused.returncode, "the root could be written"
        torch = subprocess.run(root.command(["python", "-c", "import torch; print(torch.__version__)"], user), capture_output=True, text=True)
        print(f"healthy as {user} on a read-only root; torch {torch.stdout.strip()}")
    finally:
        server.kill()
        server.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--bind", type=Path, action="append", default=[])
    arguments = parser.parse_args()
    if os.environ.get("OWN_NAMESPACE") != "yes":
        again = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
        return subprocess.run(again, env={**os.environ, "OWN_NAMESPACE": "yes"}).returncode
    root = CleanRoot(arguments.root.resolve(), arguments.bind)
    shown = [root.path / str(folder.resolve()).lstrip("/") for folder in arguments.bind]
    bare = size(root.path, *shown)
    user, command = build(root)
    torch = next(root.path.glob(f"{IMAGE.lstrip('/')}/lib/python*/site-packages/torch"))
    print(f"size: {bare:.0f} MB bare system, {size(root.path, *shown):.0f} MB with the book, {size(torch):.0f} MB of it torch", flush=True)
    serve(root, user or "root", command)
    return 0


if __name__ == "__main__":
    sys.exit(main())
