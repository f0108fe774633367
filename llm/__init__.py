"""Models: clients for extraction and embedding, the offline ones among them, and model text to facts."""
