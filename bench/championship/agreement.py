#!/usr/bin/env python3
"""Rank correlation of the championship's scores with requests that were simulated in full.

agreement.py SCENES REQUESTS...
SCENES comes from `championship --csv`, REQUESTS come from `minigpu policies --csv` with --victims flush and others.

A request counts when all policies that both sides have were played at it. Its price is that of docs/championship.md:
lateness from the start of the last position, and waste as a part of what `flush` lost there. The interval is that of
1,000 resamplings of the kernels."""
import collections
import csv
import random
import statistics
import sys

CYCLES_PER_US = 1400  # of gtx480_shieh, on which the requests run


def price(row, risk):
    limit, start = float(row["limit_us"]) * CYCLES_PER_US, int(row["start_cycles"])
    late = 0 if start <= limit else 0.5 + 0.5 * min(1, (start - limit) / limit)
    return late + min(1, (int(row["wasted"]) + int(row["idle"])) / max(1, risk))


def scores_of(path):
    prices = collections.defaultdict(list)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            prices[row["policy"]].append(float(row["late"]) + float(row["waste"]))
    return {policy: statistics.fmean(all_of) for policy, all_of in prices.items()}


def requests_of(paths):
    requests = collections.defaultdict(dict)
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                if row["bytes_saved"]:  # else the run was cut off in this line
                    requests[path, row["kernel"], row["request_cycle"], row["limit_us"]][row["policy"]] = row
    return requests


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]


def correlation(requests, scores, policies):
    means = [statistics.fmean(request[p] for request in requests) for p in policies]
    return statistics.correlation(ranks(means), ranks([scores[p] for p in policies])), means


def main(scenes, *paths):
    scores, requests = scores_of(scenes), requests_of(paths)
    policies = sorted(set(scores) & {p for request in requests.values() for p in request})
    if "flush" not in policies or len(policies) < 3:
        sys.exit("agreement.py: three policies in both, with flush among them, are needed")
    by_kernel = collections.defaultdict(list)
    for (_, kernel, _, _), rows in requests.items():
        if all(p in rows for p in policies):
            risk = int(rows["flush"]["of_flushing"])
            by_kernel[kernel].append({p: price(rows[p], risk) for p in policies})
    counted = [request for kernel in by_kernel.values() for request in kernel]
    if not counted:
        sys.exit("agreement.py: no request has all of " + ", ".join(policies))
    rho, means = correlation(counted, scores, policies)
    draw, kernels = random.Random(1), sorted(by_kernel)
    drawn = sorted(
        correlation([r for k in draw.choices(kernels, k=len(kernels)) for r in by_kernel[k]], scores, policies)[0]
        for _ in range(1000)
    )
    print("| policy | price of a request | score of the scenes |\n|---|---|---|")
    for policy, mean in sorted(zip(policies, means), key=lambda pair: pair[1]):
        print(f"| {policy} | {100 * mean:.1f} | {100 * scores[policy]:.1f} |")
    print(
        f"\n{len(counted)} requests of {len(kernels)} kernels: rank correlation {rho:.2f}, "
        f"95% interval {drawn[24]:.2f} to {drawn[974]:.2f}"
    )


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
        sys.stdout.flush()
    except (OSError, KeyError, ValueError, TypeError) as wrong:
        sys.exit(f"agreement.py: {wrong!r}: SCENES is a CSV of championship, REQUESTS are those of minigpu policies")
