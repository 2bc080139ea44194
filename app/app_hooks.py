"""Loaded by `panel serve app` before the server starts: what its sessions share."""

from app import server

server.prepare()
