"""Reading what a process shows to Prometheus."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


def value(scrape: str, name: str, **labels: str) -> float:
    """The sum of a sample over the series that carry these labels; 0 when there is none."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(scrape)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def names(scrape: str) -> set[str]:
    """The names of all samples."""
    return {sample.name for family in text_string_to_metric_families(scrape) for sample in family.samples}
