"""`python -m content.experiments cue_recall …` trains models, goes on where it was stopped, and prints the table of accuracies.

Exit codes: 0 done, 1 a run diverged or a worker died, 2 bad input, 130 stopped with Ctrl-C.
"""

import argparse
import os
import shlex
import sys
from concurrent.futures.process import BrokenProcessPool
from itertools import product
from pathlib import Path

from content.experiments.cue_recall import configuration as cue_recall
from content.experiments.cue_recall import results
from content.experiments.cue_recall.train import ENGINES, Diverged
from content.experiments.runner import Store, train


def main(arguments=None):
    """Run the command line; returns the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parse(arguments)
    try:
        stacks = stack(configurations(options))
        store = Store(options.data)
        if options.json and not options.json.resolve().parent.is_dir():
            raise ValueError(f"--json: there is no folder {options.json.parent}")
    except (ValueError, OSError) as error:
        return complain(error, 2)
    try:
        checkpoints = train(stacks, store, options.engine, options.processes)
    except KeyboardInterrupt:
        return complain(f"stopped; what is done is kept in {store.folder}, and the same command goes on from there", 130)
    except Diverged as error:
        return complain(error, 1)
    except ModuleNotFoundError as error:
        return complain(f"--engine {options.engine}: {error}", 2)
    except BrokenProcessPool:
        return complain(f"a worker process died; what is done is kept in {store.folder}, and the same command goes on", 1)
    except OSError as error:
        return complain(error, 2)
    made_with = results.versions(options.engine)
    runs = [run for checkpoint in checkpoints for run in results.from_checkpoint(checkpoint, made_with)]
    print(table(runs))
    if options.json:
        try:
            results.save(runs, options.json, shlex.join(["python", "-m", "content.experiments", *arguments]))
        except OSError as error:
            return complain(error, 2)
    return 0


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line and exit code 2; `--help` has the rest."""
        self.exit(2, f"{self.prog}: {message}\n")


def parse(arguments):
    """The options, unchecked where `Configuration` checks them."""
    parser = Parser("python -m content.experiments", description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=["cue_recall"])
    parser.add_argument("--model", nargs="+", help=f"of {', '.join(cue_recall.MODELS)}")
    parser.add_argument("--delay", nargs="+", type=int, help="random moves between cue and RECALL, 1 to 64")
    parser.add_argument("--seed", nargs="+", type=int, help="of the initial weights")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--clip", type=float, help="largest norm of the gradient")
    parser.add_argument("--data-seed", type=int, help="of the episodes and their order")
    parser.add_argument("--table", action="store_true", help="all models, delays 8, 16, 32 and three seeds, where not given")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the finished runs here")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", default=Path("data/cue_recall"), help="where unfinished runs are kept"
    )
    parser.add_argument("--engine", choices=ENGINES, default="numpy", help="derived gradients, or PyTorch's autograd")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args(arguments)


def configurations(options):
    """One Configuration per run, model by model, delay by delay. Raises ValueError with one line."""
    if options.processes < 1:
        raise ValueError(f"--processes: {options.processes} is not allowed; choose at least 1")
    single = cue_recall.Configuration()
    models = options.model or (cue_recall.MODELS if options.table else [single.model])
    delays = options.delay or (cue_recall.DELAYS if options.table else [single.delay])
    seeds = options.seed or (cue_recall.SEEDS if options.table else [single.seed])
    fixed = {name: getattr(options, name) for name in ("epochs", "batch", "learning_rate", "clip", "data_seed")}
    fixed = {name: value for name, value in fixed.items() if value is not None}
    return [
        cue_recall.Configuration(model, delay, seed, **fixed)
        for model, delay, seed in dict.fromkeys(product(models, delays, seeds))
    ]


def stack(configurations):
    """Group runs that differ only in their seed: they are trained together."""
    stacks = {}
    for configuration in configurations:
        stacks.setdefault(configuration.with_seed(0), []).append(configuration)
    return list(stacks.values())


def table(runs):
    """Test accuracy by model and delay, mean ± sample standard deviation over seeds, as text."""
    cells = results.summarise(runs)
    models, delays = (list(dict.fromkeys(place)) for place in zip(*cells, strict=True))
    lines = ["test recall accuracy, mean ± sd over seeds", "".join([" " * 12, *(f"{f'delay {delay}':>16}" for delay in delays)])]
    for model in models:
        texts = [f"{cells[model, delay].mean:.3f} ± {cells[model, delay].sd:.3f}" for delay in delays]
        lines.append("".join([f"{model:12}", *(f"{text:>16}" for text in texts)]))
    return "\n".join(lines)


def complain(problem, code):
    """Says in one line what went wrong, and gives the exit status."""
    print(f"python -m content.experiments: {problem}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
