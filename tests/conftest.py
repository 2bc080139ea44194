"""For all tests: hypothesis measures no time, since a busy machine is no fault of the code."""

from hypothesis import HealthCheck, settings

settings.register_profile("book", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("book")
