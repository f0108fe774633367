"""Settings, wiring, logging and the embedded servers."""
