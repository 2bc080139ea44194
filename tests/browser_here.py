"""`python -m tests.browser_here`: sees to it that the browser tests find a chromium, by apt where that is allowed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def main() -> int:
    if shutil.which("chromium"):
        return 0
    if not shutil.which("apt-get"):
        print("tests: no chromium found and no apt-get to install it; install a chromium and run again", file=sys.stderr)
        return 1
    rights = [] if os.geteuid() == 0 else ["sudo", "-n"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium", "fonts-noto-core"]):
        if subprocess.run([*rights, *command], env=environment, stdout=subprocess.DEVNULL).returncode:
            print(f"tests: `{' '.join(rights + command)}` failed; install Debian's chromium and run again", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
