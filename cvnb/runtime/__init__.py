"""Services of one process: stoppable threads, core limits, the stop flag, random state."""
