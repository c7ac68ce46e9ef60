#!/usr/bin/env python3
"""Runs the programs of count_programs.py with time, and those that are right once more in each preempted way.

    count_preempted.py --minigpu-cc build/examples/cuda/minigpu-cc --root WORLD --list programs_of_others.csv \\
        --csv programs_preempted.csv [--first 10] [--seconds 60] [--until 22:30] [PROGRAM[=ARGUMENTS]...]
    count_preempted.py --count programs_preempted.csv

A line of the table has a program, a way, the result, the seconds of processor time, what happened (SMs that were
given up, or instructions that found a page absent) and the arguments. A pair of program and way whose line is there
is not run again, so a run that was interrupted goes on ("too short": no kernel reaches the first preemption); what was given up runs again with a larger limit, and then
its last line counts. --count prints how many programs each way has.
"""
import argparse
import csv
import os
import re
import sys
import time

import count_programs

AGAIN = "report,preempt_every:5000,preempt:500:"
WAYS = {
    "time": "",
    "switch": AGAIN + "switch",
    "drain": AGAIN + "drain",
    "rewind": AGAIN + "rewind,regions:sparse",
    "absent": "report,faults:log16,absent:all",
    "flush": AGAIN + "flush",
}
FIELDS = ["program", "way", "result", "seconds", "happened", "arguments"]
RESULTS = ["right", "given up", "too short", "wrong", "unchecked"]


def happened(text):
    """How often an SM was given up, or an instruction found a page absent, by the reports of all launches."""
    given_up = len(re.findall(r"^cycle \d+: SM \d+ gives up", text, re.M))
    given_up += sum(int(more) for more in re.findall(r"^\.\.\. and (\d+) more preemptions", text, re.M))
    return given_up + sum(int(absent) for absent in re.findall(r"^faults: (\d+) of", text, re.M))


def result_of(row, text):
    if row["right"] == "yes":
        return "right"
    if "that cycle was never reached" in row["reason"]:
        return "too short"
    if row["reason"] == "time limit" or "too busy" in row["reason"] or "never end" in text:
        return "given up"
    return row["right"] if row["right"] in ("out", "unchecked") else "wrong"


def read(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return list(csv.DictReader(file))


def count(path):
    table = list({(row["program"], row["way"]): row for row in read(path)}.values())
    right = {way: {row["program"] for row in table if (row["way"], row["result"]) == (way, "right")} for way in WAYS}
    print("%-8s %s    happened in the right ones" % ("way", " ".join("%9s" % result for result in RESULTS)))
    for way in WAYS:
        rows = [row for row in table if row["way"] == way]
        print("%-8s %s    %d" % (way, " ".join("%9d" % sum(row["result"] == result for row in rows) for result in RESULTS),
                                 sum(int(row["happened"]) for row in rows if row["result"] == "right")))
    for ways in (["switch", "drain", "rewind", "absent"], list(WAYS)):
        print("right by %s: %d" % (", ".join(ways), len(set.intersection(*(right[way] for way in ways)))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM[=ARGUMENTS]", help="of the list; all of it by default")
    parser.add_argument("--count", metavar="CSV")
    parser.add_argument("--minigpu-cc", metavar="PATH")
    parser.add_argument("--root", metavar="FOLDER")
    parser.add_argument("--list", metavar="CSV")
    parser.add_argument("--csv", metavar="CSV")
    parser.add_argument("--log", metavar="FOLDER", help="what each program printed, per way")
    parser.add_argument("--first", type=int, default=10, help="processor time of the run without preemption")
    parser.add_argument("--seconds", type=int, default=60, help="processor time of a preempted run")
    parser.add_argument("--until", default="99", metavar="HH:MM", help="no run begins then or later")
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    if options.count:
        return count(options.count)
    listed = {row["program"]: row for row in read(options.list)}
    toolkit = count_programs.stand_in(os.path.abspath(options.csv) + ".toolkit", options.minigpu_cc, "")
    known = {(row["program"], row["way"]): row for row in read(options.csv)}
    settings = argparse.Namespace(root=options.root, rule=True, again=None, present=True, compile_seconds=90,
                                  include=["../../../Common"], listed=listed)
    with open(options.csv, "a", newline="", buffering=1) as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not known:
            table.writeheader()
        for word in options.programs or listed:
            name, given, arguments = word.partition("=")
            if given:
                listed[name]["arguments"] = arguments
            folder = os.path.abspath(os.path.join(options.root, name))
            for way in options.ways.split(","):
                if time.strftime("%H:%M") >= options.until:
                    return 0
                row = known.get((name, way))
                settings.seconds = options.first if way == "time" else options.seconds
                if not row or row["result"] == "given up" and row["way"] != "flush" and float(row["seconds"]) < 0.9 * settings.seconds:
                    settings.minigpu = ",".join(["granule_bytes:4096", WAYS[way]]).strip(",")
                    settings.build = False
                    if name.endswith("tqs-cuda"):
                        settings.minigpu = settings.minigpu.replace("4096", "65536")
                    counted, text = count_programs.count(folder, settings, toolkit, {})
                    row = dict(program=name, way=way, result=result_of(counted, text), arguments=counted["arguments"],
                               seconds=counted["run_seconds"] or "0", happened=0 if way == "time" else happened(text))
                    if row["result"] == "out" or counted["compiled"] != "yes":
                        print(name, counted["reason"], flush=True)
                        break
                    table.writerow(row)
                    print(name, way, row["result"], row["seconds"], counted["reason"], flush=True)
                    if options.log:
                        os.makedirs(os.path.join(options.log, way), exist_ok=True)
                        with open(os.path.join(options.log, way, name.replace("/", "+")), "w") as log:
                            log.write(text)
                if way == "time":
                    if row["result"] != "right":
                        break
                    listed[name]["arguments"] = row["arguments"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
