"""What the server serves: the only place that knows sessions, addresses and HTTP."""
