"""Speed, memory and import time, each beside its goal: ``python -m benchmarks``."""
