"""Speed, measured: `make bench`. Each figure stands beside a named peer that ran on the same data in the same run."""
