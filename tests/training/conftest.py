import pytest

from app import training
from app.training import cluster
from content import toc


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """A data directory and a training desk of its own for each test."""
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    yield tmp_path / "data"
    training.stop()
