"""Models behind OpenAI-compatible endpoints: the core room that waits, retries and does I/O."""
