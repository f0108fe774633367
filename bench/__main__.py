"""`python -m bench [NAME ...] [--memories N]`: prints medians and the ratio to the named peer."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.accept import bench_accept
from bench.admission import bench_admission
from bench.ingest import bench_ingest
from bench.manage import bench_manage
from bench.search import bench_search
from bench.service import Place
from bench.waiting import bench_waiting
from runtime.embedded.servers import embedded_servers
from runtime.home import Home

WITHOUT_SERVERS: dict[str, Callable[[], str]] = {"admission": bench_admission}
ON_SERVERS: dict[str, Callable[[Place], str]] = {
    "accept": bench_accept,
    "search": bench_search,
    "manage": bench_manage,
    "ingest": bench_ingest,
    "waiting": bench_waiting,
}
NAMES = (*WITHOUT_SERVERS, *ON_SERVERS)


def main() -> None:
    """Run the named benchmarks on servers of their own."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all by default")
    parser.add_argument("--memories", type=int, help="memories stored before (search: 2000, manage and ingest: 20000)")
    chosen = parser.parse_args()
    unknown = set(chosen.names) - set(NAMES)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    names = chosen.names or NAMES
    for name in (name for name in names if name in WITHOUT_SERVERS):
        print(WITHOUT_SERVERS[name](), flush=True)
    if not any(name in ON_SERVERS for name in names):
        return
    with tempfile.TemporaryDirectory() as folder, embedded_servers(Path(folder) / "home") as servers:
        place = Place(Home(Path(folder) / "home"), servers, chosen.memories)
        for name in (name for name in names if name in ON_SERVERS):
            print(ON_SERVERS[name](place), flush=True)


if __name__ == "__main__":
    main()
