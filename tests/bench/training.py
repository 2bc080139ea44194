"""The whole cue-recall table, by the trainer and by a plain PyTorch loop, on the same cores: `python tests/bench/training.py`.

Checks first that both compute the same: the losses of the first 50 steps from the same initial weights agree. Then times
both for all 27 runs, the plain loop spread over as many one-thread processes as the trainer gets: the kindest way to run it.
Prints the times, their ratio and both tables. On a busy machine the processor's seconds, printed beside those of the clock, are
the ones to compare. `--quick` trains few epochs; `--usual` also times the plain loop in one process with torch's own threads.
"""

import argparse
import os
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from content.experiments.cue_recall import data, results
from content.experiments.cue_recall.checkpoint import start
from content.experiments.cue_recall.configuration import DELAYS, MODELS, table
from content.experiments.cue_recall.optimizer import clip_and_step
from content.experiments.cue_recall.train import DERIVED
from content.experiments.runner import Store, train

STEPS = 50
TOLERANCE = 2e-6  # relative, for the losses of the first 50 steps in float32


def plain_loop(configuration, steps=None):
    """Train one run with nn.RNN, nn.GRU or nn.TransformerEncoderLayer, Adam and clip_grad_norm_.

    Returns its test accuracy, or the losses of the first `steps` steps when these are asked for.
    """
    import torch
    from torch.nn.functional import cross_entropy

    from content.experiments.cue_recall.model import build

    def score(split):
        with torch.no_grad():
            logits = module(split[:, :-1])
            cross_entropy(logits.flatten(0, 1), split[:, 1:].flatten())
            answer = logits[:, recall]
            right = answer.argmax(dim=1) == split[:, recall + 1]
            return cross_entropy(answer, split[:, recall + 1]).item(), right.double().mean().item()

    splits = [torch.as_tensor(data.split(configuration, name).astype(int)) for name in ("train", "validation", "test")]
    train_split, validation, test = splits
    recall = data.recall_index(configuration.delay)
    module = build(configuration)
    optimizer = torch.optim.Adam(module.parameters(), lr=configuration.learning_rate)
    best, best_state, losses = float("inf"), None, []
    for epoch in range(configuration.epochs):
        order = torch.as_tensor(data.batch_order(configuration, epoch))
        for indices in order.split(configuration.batch):
            tokens = train_split[indices]
            logits = module(tokens[:, :-1])
            loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(module.parameters(), configuration.clip)
            optimizer.step()
            losses.append(loss.item())
            if len(losses) == steps:
                return losses
        validation_loss, _ = score(validation)
        if validation_loss < best:
            best, best_state = validation_loss, {name: array.clone() for name, array in module.state_dict().items()}
    module.load_state_dict(best_state)
    return score(test)[1]


def trainer_losses(configuration, steps):
    """Losses of the trainer's first steps."""
    checkpoint = start(configuration)
    weights, first, second = checkpoint.weights, checkpoint.first, checkpoint.second
    engine, gradient = DERIVED[configuration.model](configuration, 1, configuration.batch), np.empty_like(weights)
    batches = np.concatenate([data.batch_order(configuration, epoch) for epoch in range(steps)])[: steps * configuration.batch]
    train_split, losses = data.split(configuration, "train"), []
    for step, indices in enumerate(batches.reshape(steps, -1), start=1):
        losses.append(engine.scores_and_gradient(weights, train_split[indices], gradient).loss[0])
        clip_and_step(weights, gradient, first, second, step, configuration.learning_rate, configuration.clip)
    return losses


def timed_plain(configurations, processes, threads):
    """Seconds and test accuracies of the plain loop; threads: None leaves torch its own number."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.pop(name, None)
        if threads:
            os.environ[name] = str(threads)
    # the longest first, so that no process is left waiting for one long run at the end
    order = sorted(configurations, key=lambda configuration: (-configuration.delay, configuration.model != "transformer"))
    started = time.perf_counter()
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        accuracy = dict(zip(order, pool.map(plain_loop, order), strict=True))
    return time.perf_counter() - started, accuracy


def timed_trainer(configurations, processes):
    """Seconds and test accuracies of the trainer, worker start and saving included."""
    stacks = {}
    for configuration in configurations:
        stacks.setdefault(configuration.with_seed(0), []).append(configuration)
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        checkpoints = train(list(stacks.values()), Store(Path(folder)), "numpy", processes)
        seconds = time.perf_counter() - started
    runs = [run for checkpoint in checkpoints for run in results.from_checkpoint(checkpoint, {})]
    return seconds, {run.configuration: run.test_accuracy for run in runs}


def report(name, timed, trainer=None):
    """Call `timed`, print its seconds and the ratio to the trainer's; returns (seconds, accuracies)."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, accuracy = timed()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ratio = f", ratio {seconds / trainer:.1f}" if trainer else ""
    print(f"{name}: {seconds:.1f} s (processor {busy:.1f} s){ratio}", flush=True)
    return seconds, accuracy


def check_losses():
    """Both compute the same losses over the first 50 steps, for every model and delay."""
    for model in MODELS:
        for delay in DELAYS:
            configuration = next(run for run in table() if (run.model, run.delay) == (model, delay))
            plain, ours = plain_loop(configuration, STEPS), trainer_losses(configuration, STEPS)
            worst = np.max(np.abs(np.subtract(plain, ours)) / plain)
            print(f"first {STEPS} losses, {model}, delay {delay}: largest relative difference {worst:.1e}", flush=True)
            assert worst < TOLERANCE, f"{model}, delay {delay}: losses differ"


def compare_tables(ours, plain):
    """Mean ± sample sd of three seeds, both ways. Same seeds, same batches: only rounding differs, which training amplifies."""
    for model in MODELS:
        for delay in DELAYS:
            pair = [[table[run] for run in table if (run.model, run.delay) == (model, delay)] for table in (ours, plain)]
            means, spreads = np.mean(pair, axis=1), np.std(pair, axis=1, ddof=1)
            texts = [f"{mean:.3f} ± {spread:.3f}" for mean, spread in zip(means, spreads, strict=True)]
            print(f"{model:12} delay {delay:2}   trainer {texts[0]}   plain {texts[1]}")
            assert abs(means[0] - means[1]) <= 0.1 + 2 * spreads.max(), f"{model}, delay {delay}: beyond seed noise"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 epochs instead of 60; no comparison of the tables")
    parser.add_argument("--usual", action="store_true", help="time one process with torch's own threads as well")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    check_losses()
    runs = [replace(run, epochs=3) for run in table()] if options.quick else table()
    count = options.processes
    trainer, ours = report(f"trainer, {count} processes", lambda: timed_trainer(runs, count))
    plain, theirs = report(f"plain loop, {count} processes of one thread", lambda: timed_plain(runs, count, threads=1), trainer)
    if options.usual:
        report("plain loop, one process, torch's threads", lambda: timed_plain(runs, 1, threads=None), trainer)
    if not options.quick:
        compare_tables(ours, theirs)
    assert plain / trainer >= 3, "the trainer is not three times as fast"


if __name__ == "__main__":
    main()
