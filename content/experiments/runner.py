"""Many runs at once: worker processes train them in slices, a folder keeps what is done."""

import hashlib
import os
import signal
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import get_context

from content.experiments.cue_recall.checkpoint import from_bytes, start, to_bytes
from content.experiments.cue_recall.train import advance

SLICE = 64  # updates between two savings of a run
BAR = 30  # characters


class Store:
    """Checkpoints in a folder, one file per stack, written so that a file is always whole."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"--data: {folder} cannot be written")

    def path(self, stack, engine):
        keys = " ".join(configuration.key() for configuration in stack)
        return self.folder / f"{hashlib.sha256(keys.encode()).hexdigest()[:16]}.{engine}.run"

    def read(self, stack, engine):
        """The kept checkpoint, or a new one; a broken file is set aside and said on stderr."""
        path = self.path(stack, engine)
        try:
            return from_bytes(path.read_bytes())
        except FileNotFoundError:
            return start(*stack)
        except ValueError as error:
            aside = path.with_suffix(".broken")
            path.replace(aside)
            print(f"{path.name}: {error}; set aside as {aside.name}, the run starts again", file=sys.stderr)
            return start(*stack)

    def write(self, checkpoint, engine):
        path = self.path(checkpoint.configurations, engine)
        unfinished = path.with_suffix(".part")
        unfinished.write_bytes(to_bytes(checkpoint))
        unfinished.replace(path)


def train(stacks, store, engine, processes):
    """Train all stacks in slices on worker processes; returns their finished checkpoints, in order.

    Every slice is saved. On Ctrl-C the slices at work are finished and saved before KeyboardInterrupt goes on.
    """
    checkpoints = {tuple(stack): store.read(stack, engine) for stack in stacks}
    progress = Progress(list(checkpoints.values()))
    waiting = [checkpoint for checkpoint in checkpoints.values() if not checkpoint.finished]
    if not waiting:
        return list(checkpoints.values())
    # One thread per process, for OpenBLAS and torch alike; a spawned process reads this before it loads them.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    pool = ProcessPoolExecutor(min(processes, len(waiting)), get_context("spawn"))
    at_work = set()

    def keep(future):
        checkpoint, _ = future.result()
        store.write(checkpoint, engine)
        checkpoints[checkpoint.configurations] = checkpoint
        progress.show(list(checkpoints.values()))
        return checkpoint

    try:
        with ignored_interrupt():  # the workers start here and inherit it: the parent alone decides on Ctrl-C
            at_work = {pool.submit(advance, checkpoint, SLICE, engine) for checkpoint in waiting}
        while at_work:
            ended, at_work = wait(at_work, return_when=FIRST_COMPLETED)
            for checkpoint in map(keep, ended):
                if not checkpoint.finished:
                    at_work.add(pool.submit(advance, checkpoint, SLICE, engine))
    except KeyboardInterrupt:
        pool.shutdown(wait=True, cancel_futures=True)
        for future in at_work:
            if future.done() and not future.cancelled():
                keep(future)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        progress.end()
    return list(checkpoints.values())


@contextmanager
def ignored_interrupt():
    """Ctrl-C does nothing within this block, nor ever in the processes that start in it."""
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


class Progress:
    """A bar with the time left, on stderr: redrawn on a terminal, a line every tenth of the work elsewhere."""

    def __init__(self, checkpoints):
        self.started, self.at_start, self.shown = time.monotonic(), work(checkpoints)[0], -1
        self.terminal = sys.stderr.isatty()

    def show(self, checkpoints):
        done, total = work(checkpoints)
        share = done / total
        left = (time.monotonic() - self.started) * (total - done) / max(done - self.at_start, 1)
        runs = [run for checkpoint in checkpoints for run in checkpoint.configurations]
        finished = sum(len(checkpoint.configurations) for checkpoint in checkpoints if checkpoint.finished)
        bar = ("#" * round(share * BAR)).ljust(BAR, ".")
        line = f"[{bar}] {share:4.0%}  {finished}/{len(runs)} runs  ETA {left // 60:.0f}:{left % 60:02.0f}"
        if self.terminal:
            print(f"\r{line} ", end="", file=sys.stderr, flush=True)
        elif int(share * 10) > self.shown:
            self.shown = int(share * 10)
            print(line, file=sys.stderr, flush=True)

    def end(self):
        if self.terminal:
            print(file=sys.stderr)


def work(checkpoints):
    """Updates done and to do, each counted with the length of its episodes."""
    costs = [checkpoint.configurations[0].inputs * len(checkpoint.configurations) for checkpoint in checkpoints]
    done = sum(cost * checkpoint.step for cost, checkpoint in zip(costs, checkpoints, strict=True))
    total = sum(cost * checkpoint.configurations[0].total_steps for cost, checkpoint in zip(costs, checkpoints, strict=True))
    return done, total
