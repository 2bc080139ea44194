"""`python -m tests.programs_here`: sees to it that tests find chromium and nginx, by apt where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

PACKAGES = {"chromium": ["chromium", "fonts-noto-core"], "nginx": ["nginx-light"]}


def find(program: str) -> str | None:
    """Path of a program; nginx stands in sbin, which is not on everybody's PATH."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def main() -> int:
    wanted = [package for program, packages in PACKAGES.items() if not find(program) for package in packages]
    if not wanted:
        return 0
    if not shutil.which("apt-get"):
        print(f"tests: install {', '.join(wanted)} and run again (there is no apt-get here to do it)", file=sys.stderr)
        return 1
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y", "--no-install-recommends", *wanted]):
        if subprocess.run([*rights, *command], env=environment, stdout=subprocess.DEVNULL).returncode:
            print(f"tests: `{' '.join(rights + command)}` failed; install {', '.join(wanted)} and run again", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
