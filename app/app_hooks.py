"""Loaded by `panel serve app` before the server starts: what its sessions share."""

from app import server, training

server.prepare()


def on_server_unloaded(server_context):
    training.stop()
