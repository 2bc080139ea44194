"""A small Dask cluster on this machine, as a child of the web process: `python -m app.training.local_cluster PROCESSES`.

It prints the scheduler's address and lives until its standard input is closed, which the web process's end does as well.
A child and not a part of the web process: the scheduler's work stays off the readers' event loop, the workers start from this
small module, and they give way to the web process.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


async def serve(processes: int) -> None:
    """A cluster of this many processes, whose address is printed, until standard input ends."""
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        async with LocalCluster(
            n_workers=processes, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any free port: there is a bare HTTP server all the same
            local_directory=scratch, preload=["app.training.slices"], asynchronous=True,
        ) as cluster:  # fmt: skip
            print(cluster.scheduler_address, flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    os.environ |= ONE_THREAD
    asyncio.run(serve(int(sys.argv[1])))
