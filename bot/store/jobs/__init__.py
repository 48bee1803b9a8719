"""Tables of jobs: the queue, its deliveries and the turns of installations."""
