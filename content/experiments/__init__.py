"""Experiments that train models: each runs from the command line and from the server's workers."""
