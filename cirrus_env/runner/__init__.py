"""Many episodes: agents by name, jobs, the folder that keeps a run, statistics, the audit."""
