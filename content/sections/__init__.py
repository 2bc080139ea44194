"""One folder a section: `compute.py` and its prose in three languages."""
