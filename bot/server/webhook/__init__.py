"""The webhook: the endpoint, the deliveries it reads, and the payloads it accepts."""
