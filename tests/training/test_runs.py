"""Runs in the data directory: found again bit for bit, whole or not at all, set aside when broken, and never too many."""

import logging
import os

import numpy as np
import pytest

from content.experiments.cue_recall import results, runs
from content.experiments.cue_recall.checkpoint import from_bytes, start, to_bytes
from content.experiments.cue_recall.configuration import Configuration, table
from content.experiments.cue_recall.train import advance

SHORT = Configuration("rnn", 1, 5, epochs=1, train_size=128, validation_size=64, test_size=64)


def trained(configuration=SHORT):
    return advance(start(configuration), configuration.total_steps)[0]


def test_a_finished_run_is_found_with_its_weights_and_what_made_it():
    checkpoint = trained()
    runs.write(SHORT, checkpoint, {"numpy": "2"})
    run = runs.find_run(SHORT)
    np.testing.assert_array_equal(run.weights, checkpoint.best_weights[0])
    assert run.test_accuracy == checkpoint.test[0, 0]
    assert run.versions == {"numpy": "2"}
    assert runs.find_run(SHORT) is not None
    assert runs.find_run(SHORT.with_seed(6)) is None


def test_an_unfinished_run_is_read_but_not_found_as_finished():
    runs.write(SHORT, start(SHORT), {})
    assert runs.read(SHORT).checkpoint.step == 0
    assert runs.find_run(SHORT) is None
    runs.write(SHORT, trained(), {})
    assert runs.find_run(SHORT) is not None


def test_runs_of_the_stored_table_are_found_without_a_data_directory():
    for configuration in table():
        assert runs.find_run(configuration).configuration == configuration
    assert not runs.folder().exists()


def test_the_directory_is_data_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.delenv("BOOK_DATA")
    assert runs.run_path(SHORT).parts == ("data", "runs", f"{SHORT.key()}.run")


def broken_files():
    whole = runs.pack(to_bytes(trained()), {"numpy": "2"})
    middle = len(whole) // 2
    return {
        "empty": b"",
        "truncated": whole[:-100],
        "cut in its first line": whole[:7],
        "a bit flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
        "no JSON before it": b"?" + whole,
        "a list before it": b"[]\n" + whole.partition(b"\n")[2],
        "text": b"not a run\nat all",
        "another run's": runs.pack(to_bytes(trained(SHORT.with_seed(6))), {}),
    }


@pytest.mark.parametrize("what", broken_files())
def test_a_broken_file_is_set_aside_and_said_in_one_line_of_the_log(what, caplog):
    path = runs.run_path(SHORT)
    path.parent.mkdir(parents=True)
    path.write_bytes(broken_files()[what])
    with caplog.at_level(logging.WARNING):
        assert runs.find_run(SHORT) is None
        assert runs.find_run(SHORT) is None
    (record,) = caplog.records
    assert "\n" not in record.getMessage()
    assert record.exc_info is None
    assert record.getMessage().endswith(f"set aside as {SHORT.key()}.broken")
    assert [file.name for file in runs.folder().iterdir()] == [f"{SHORT.key()}.broken"]
    runs.write(SHORT, trained(), {})
    assert runs.find_run(SHORT) is not None


def test_what_cannot_be_read_is_no_run_and_no_traceback(caplog):
    runs.run_path(SHORT).mkdir(parents=True)  # a directory where the file should be
    assert runs.find_run(SHORT) is None
    assert [record.exc_info for record in caplog.records] == [None]


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(monkeypatch):
    runs.write(SHORT, trained(), {"numpy": "2"})

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError):
        runs.write(SHORT, start(SHORT), {})
    assert runs.find_run(SHORT).versions == {"numpy": "2"}
    assert [file.name for file in runs.folder().iterdir()] == [f"{SHORT.key()}.run"]


def test_the_oldest_files_make_room(monkeypatch):
    monkeypatch.setattr(runs, "MOST", 10)
    checkpoint = trained()
    for seed in range(12):
        runs.write(SHORT.with_seed(seed), checkpoint, {})
        os.utime(runs.run_path(SHORT.with_seed(seed)), (seed, seed))
    left = {file.stem for file in runs.folder().iterdir()}
    assert len(left) <= 10
    assert SHORT.with_seed(11).key() in left
    assert SHORT.with_seed(0).key() not in left


def test_versions_and_curves_come_back_as_they_were():
    runs.write(SHORT, trained(), results.versions())
    kept = runs.read(SHORT)
    assert kept.versions == results.versions()
    np.testing.assert_array_equal(from_bytes(to_bytes(kept.checkpoint)).curves, trained().curves)
