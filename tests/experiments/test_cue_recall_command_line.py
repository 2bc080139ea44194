"""`python -m content.experiments cue_recall …`: results, resumption, Ctrl-C, and what it says about bad input."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from content.experiments.__main__ import main
from content.experiments.cue_recall import results
from content.experiments.cue_recall.checkpoint import from_bytes, start
from content.experiments.cue_recall.configuration import Configuration
from content.experiments.cue_recall.train import advance

COMMAND = [sys.executable, "-m", "content.experiments", "cue_recall"]
SHORT = ["--model", "rnn", "gru", "--delay", "2", "--epochs", "2", "--processes", "2"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "lstm"], "choose one of rnn, gru, transformer"),
        (["--delay", "65"], "choose a whole number from 1 to 64"),
        (["--delay", "eight"], "invalid int value: 'eight'"),
        (["--epochs", "0"], "epochs: 0"),
        (["--learning-rate", "nan"], "learning_rate: nan"),
        (["--batch", "100"], "choose one of 32"),
        (["--processes", "0"], "--processes: 0"),
        (["--nonsense"], "unrecognized arguments"),
        (["--json", "no/such/folder/runs.json"], "there is no folder no/such/folder"),
    ],
)
def test_bad_input_exits_2_with_one_clear_line(arguments, said, tmp_path, capsys):
    try:
        code = main(["cue_recall", "--data", str(tmp_path), *arguments])
    except SystemExit as exit:
        code = exit.code
    error = capsys.readouterr().err
    assert code == 2
    assert said in error
    assert len(error.splitlines()) == 1


def test_data_folder_that_cannot_be_made_is_said(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["cue_recall", "--data", str(tmp_path / "file" / "folder")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_command_trains_writes_json_and_does_not_train_again(tmp_path, capsys):
    file = tmp_path / "runs.json"
    arguments = ["cue_recall", *SHORT, "--seed", "1", "2", "--data", str(tmp_path / "data"), "--json", str(file)]
    assert main(arguments) == 0
    first = capsys.readouterr()
    assert "delay 2" in first.out
    assert "ETA" in first.err
    runs = results.load(file)
    assert [(run.configuration.model, run.configuration.seed) for run in runs] == [
        ("rnn", 1), ("rnn", 2), ("gru", 1), ("gru", 2),
    ]  # fmt: skip
    alone = Configuration("gru", 2, 2, epochs=2)
    expected, _ = advance(start(alone), alone.total_steps)
    np.testing.assert_array_equal(runs[3].weights, expected.best_weights[0])
    written = json.loads(file.read_text())["runs"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == first.out
    assert json.loads(file.read_text())["runs"] == written


def test_ctrl_c_keeps_what_is_done_and_a_second_call_goes_on(tmp_path):
    arguments = ["--model", "gru", "--delay", "8", "--epochs", "12", "--data", str(tmp_path)]
    # A shell starts what it runs in the background with Ctrl-C ignored; this process is to hear it.
    hear = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=hear)
    while not list(tmp_path.glob("*.run")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 130, error
    assert "the same command goes on from there" in error
    assert "Traceback" not in error
    [file] = tmp_path.glob("*.run")
    kept = from_bytes(file.read_bytes())
    assert 0 < kept.step < 12 * 32
    assert main(["cue_recall", *arguments]) == 0
    whole, _ = advance(start(Configuration("gru", 8, epochs=12)), 12 * 32)
    resumed = from_bytes(file.read_bytes())
    np.testing.assert_array_equal(resumed.weights, whole.weights)
    np.testing.assert_array_equal(resumed.curves, whole.curves)


def test_broken_checkpoint_is_set_aside_and_said(tmp_path, capsys):
    arguments = ["cue_recall", "--model", "rnn", "--delay", "2", "--epochs", "1", "--data", str(tmp_path)]
    assert main(arguments) == 0
    [file] = tmp_path.glob("*.run")
    file.write_bytes(file.read_bytes()[:500])
    capsys.readouterr()
    assert main(arguments) == 0
    assert "set aside as" in capsys.readouterr().err
    assert list(tmp_path.glob("*.broken"))
