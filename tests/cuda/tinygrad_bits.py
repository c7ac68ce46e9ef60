#!/usr/bin/env python3
"""Runs tinygrad's operation tests and hashes the bytes of every array that a test reads back from the device.

    cd TINYGRAD && OCELOT_PATH=libminigpu_ptx.so DEV=MOCK+CUDA:PTX PARALLEL=0 MINIGPU=functional \\
        python3 tinygrad_bits.py plain.txt
    ... MINIGPU=preempt:500:switch,preempt_every:1000 python3 tinygrad_bits.py preempted.txt
    python3 tinygrad_bits.py --compare plain.txt preempted.txt
    python3 tinygrad_bits.py --csv plain.txt preempted.txt >tinygrad_compared.csv
    python3 tinygrad_bits.py --count tinygrad_compared.csv

Each test runs in a child with the same random numbers, so two runs differ only if a kernel computes something else. A
line of a table has a test's name, its result, the number of arrays, their hash and the seconds of processor time. A
test whose line is there is not run again, nor is one that stands in the CSV of --csv whose path DONE gives. LIMIT is
the processor time of a test in seconds (20).
"""
import hashlib
import os
import random
import resource
import sys


def run(name, tests, pipe):
    """Runs a test in this process and writes its line, but for the time, into the pipe."""
    import unittest
    import numpy
    import torch
    from tinygrad import Tensor
    limit = int(os.environ.get("LIMIT", "20"))
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    random.seed(1)
    numpy.random.seed(1)
    torch.manual_seed(1)
    Tensor.manual_seed(1)
    digest, count, read = hashlib.sha256(), 0, Tensor.numpy

    def hashed(tensor):
        nonlocal count
        array = read(tensor)
        digest.update(repr((array.shape, array.dtype)).encode() + numpy.ascontiguousarray(array).tobytes())
        count += 1
        return array

    Tensor.numpy = hashed
    result = unittest.TestResult()
    tests(name).run(result)
    word = "skipped" if result.skipped else "failed" if result.failures or result.errors else "passed"
    os.write(pipe, ("%s %d %s" % (word, count, digest.hexdigest()[:16])).encode())


def run_all(path):
    sys.path.insert(0, os.getcwd())
    import test.backend.test_ops as module
    done = set()
    if os.path.exists(path):
        with open(path) as file:
            done = {line.split()[0] for line in file}
    if os.environ.get("DONE"):
        with open(os.environ["DONE"]) as file:
            done |= {line.split(",")[0] for line in file}
    with open(path, "a", buffering=1) as file:
        for name in sorted(name for name in dir(module.TestOps) if name.startswith("test_") and name not in done):
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                run(name, module.TestOps, writer)
                os._exit(0)
            os.close(writer)
            line = os.read(reader, 4096).decode() or "given-up 0 -"
            os.close(reader)
            usage = os.wait4(child, 0)[2]
            file.write("%s %s %.2f\n" % (name, line, usage.ru_utime + usage.ru_stime))


def compare(paths):
    tables = []
    for path in paths:
        with open(path) as file:
            tables.append({line.split()[0]: line.split()[1:4] for line in file})
    both = [name for name in tables[0] if all(table.get(name, [""])[0] == "passed" for table in tables)]
    same = [name for name in both if tables[0][name] == tables[1][name]]
    print("%d tests passed both times, %d of them with the same bits in %d arrays" %
          (len(both), len(same), sum(int(tables[0][name][1]) for name in same)))
    for name in both:
        if name not in same:
            print("other bits:", name)
    return len(same) < len(both)


def write_csv(paths):
    """A line per test that both tables have: its results, whether the bits are the same, arrays, seconds."""
    tables = []
    for path in paths:
        with open(path) as file:
            tables.append({line.split()[0]: line.split()[1:] for line in file})
    print("test,plain,preempted,same_bits,arrays,plain_seconds,preempted_seconds")
    for name in sorted(name for name in tables[0] if name in tables[1]):
        plain, preempted = tables[0][name], tables[1][name]
        print(",".join([name, plain[0], preempted[0], "yes" if plain[:3] == preempted[:3] else "no", plain[1], plain[3], preempted[3]]))


def count(path):
    with open(path) as file:
        rows = [line.strip().split(",") for line in file][1:]
    both = [row for row in rows if row[1] == row[2] == "passed"]
    print("%d tests: %d passed both times, %d of them with the same bits in %d arrays; %d skipped, %d failed both times, %d other" % (
        len(rows), len(both), sum(row[3] == "yes" for row in both), sum(int(row[4]) for row in both if row[3] == "yes"),
        sum(row[1] == row[2] == "skipped" for row in rows), sum(row[1] == row[2] == "failed" for row in rows),
        sum(row[1] != row[2] or row[1] == "given-up" for row in rows)))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--count":
        sys.exit(count(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "--csv":
        sys.exit(write_csv(sys.argv[2:]))
    if len(sys.argv) == 4 and sys.argv[1] == "--compare":
        sys.exit(compare(sys.argv[2:]))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run_all(sys.argv[1])
