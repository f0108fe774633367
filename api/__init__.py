"""The thin Flask front door: it checks the request and calls one function of `pipeline`."""
