#!/usr/bin/env python3
"""Counts how many CUDA programs of others compile with minigpu-cc, run, and are right by their own check.

    count_programs.py --minigpu-cc build/examples/cuda/minigpu-cc --csv count.csv --root WORLD --list programs.csv [FOLDER...]

Each FOLDER is one program, in a copy that this script may build in. With a Makefile the program is built by
`make` with minigpu-cc in the place of nvcc; without one its .cu, .cpp and .c files are compiled together.
A list (tests/cuda/programs_of_others.csv) names the folders under WORLD, and for each further flags of minigpu-cc
and small arguments. Flags that name sources stand for the folder's own. `missing` names a file that a program needs
and that its collection may not bring; `silent` is what a check that speaks only of failure would print.

A program runs with the arguments of the Makefile's target `run` or of the script `run`. Simulation is slow, so
large arguments are divided by 512, then by 64 when the program refuses that; the table has the arguments.
"right" is the program's own word (PASS, correct, ...); "unchecked" programs end with status 0 and say nothing.
"""
import argparse
import csv
import os
import re
import resource
import shlex
import subprocess
import sys

RIGHT = re.compile(r"\b(pass(ed)?|success(ful(ly)?)?|correct|verified|valid|matche?s?|ok|identical)\b|"
                   r"beyond error threshold[^:]*: 0\b|\bmisses: 0\b|\b(0|no) (errors|mismatches)\b", re.I)
WRONG = re.compile(r"\b(fail(s|ed|ure)?|incorrect|mismatch(es)?|wrong|invalid|unsuccessful|not (equal|correct|verified))\b|"
                   r"beyond error threshold[^:]*: [1-9]|\b(error|warning)!|minigpu: ", re.I)
NO_FAILURE = re.compile(r"\b(0|no|without) (fail(s|ures)?|mismatch(es)?|errors?)\b|(fail(s|ed|ures)?|mismatch(es)?|errors?)\s*[:=]\s*0\b",
                        re.I)
EXPECTED = re.compile(r"\bfail(s|ed|ure)? as expected\b", re.I)
LIBRARY = re.compile(r'^\s*#\s*include\s*[<"]((?:torch|thrust|cub|cuda/std|cutlass|cute)/|(?:cublas|cufft|curand\.h|cusparse|cusolver|cudnn|nvml|nccl|mpi\.h|'
                     r"nvrtc|npp|GL/|freeglut|EGL|boost/|hdf5|gsl|cuda_gl)[^>\"]*)", re.M)
CHECK = re.compile(r'"[^"\n]*\b(PASS|FAIL|[Pp]assed|[Ee]rror rate|[Cc]orrect|[Ii]ncorrect|[Vv]erif|[Mm]ismatch|[Mm]atch|SUCCESS|[Ss]uccess|[Vv]alid|'
                   r"[Ww]rong|identical|OK\b|beyond error threshold)")
SOURCE = (".cu", ".cpp", ".cc", ".c")
FIELDS = ["program", "compiled", "ran", "right", "reason", "arguments", "compile_seconds", "run_seconds"]


def stand_in(folder, compiler, flags):
    """Makes the folder of a toolkit, as Makefiles look for it: bin/nvcc calls minigpu-cc with further flags, and
    include, lib and lib64 have the headers and the library for what gcc compiles and links."""
    with open(compiler) as file:
        places = dict(re.findall(r"^(include|library)=(.*)$", file.read(), re.M))
    for name in ("bin", "lib", "lib64"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    path = os.path.join(folder, "bin", "nvcc")
    with open(path, "w") as file:
        file.write('#!/bin/sh\nexec %s "$@" %s $MINIGPU_CC_FLAGS\n' % (shlex.quote(os.path.abspath(compiler)), flags))
    os.chmod(path, 0o755)
    links = [("include", places["include"])]
    for place in ("lib", "lib64"):
        for name in ("libcudart.so", "libcuda.so", "libminigpu_cudart.so"):
            links.append((os.path.join(place, name), os.path.join(places["library"], "libminigpu_cudart.so")))
    for name, to in links:
        if not os.path.lexists(os.path.join(folder, name)):
            os.symlink(to, os.path.join(folder, name))
    return os.path.abspath(folder)


def limited(command, folder, seconds, environment=None, shell=False):
    """Runs a command within seconds of processor time. Returns status, text, seconds of processor time."""
    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start = used()

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    try:
        done = subprocess.run(command, cwd=folder, env=environment, shell=shell, stdin=subprocess.DEVNULL, timeout=40 * seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit, errors="replace")
        return done.returncode, done.stdout, used() - start
    except subprocess.TimeoutExpired as late:
        return -1000, (late.stdout or b"").decode(errors="replace"), used() - start


def executables(folder):
    found = set()
    names = os.listdir(folder)
    if os.path.isdir(os.path.join(folder, "bin")):
        names += [os.path.join("bin", name) for name in os.listdir(os.path.join(folder, "bin"))]
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF" and not name.endswith((".o", ".so")):
                    found.add(name)
    return found


def place_of(folder):
    """Where a program is built and run: its folder, or the first one below that has a Makefile when the folder has
    neither a Makefile nor sources."""
    if any(name in ("Makefile", "makefile") or name.endswith(SOURCE) for name in os.listdir(folder)):
        return folder
    for place, below, names in os.walk(folder):
        below.sort()
        if "Makefile" in names:
            return place
    return folder


def build(folder, options, toolkit, flags):
    environment = dict(os.environ, PATH=os.path.join(toolkit, "bin") + ":" + os.environ["PATH"], MINIGPU_CC_FLAGS=flags)
    if any(os.path.exists(os.path.join(folder, name)) for name in ("Makefile", "makefile")):
        command = ["make", "CUDA_DIR=" + toolkit, "CUDA_PATH=" + toolkit, "CUDA_INSTALL_PATH=" + toolkit]
    else:
        own = any(word.endswith(SOURCE) for word in flags.split())
        sources = [] if own else sorted(name for name in os.listdir(folder) if name.endswith(SOURCE))
        command = ["nvcc", "-std=c++17", "-O2", "-I."] + ["-I" + i for i in options.include] + sources + ["-o", "program"]
    status, text, seconds = limited(command, folder, options.compile_seconds, environment)
    return status, text, seconds


def library_of(folder, flags):
    """The first library beside CUDA's run time that a program's sources include; None."""
    own = [os.path.basename(word) for word in flags.split() if word.endswith(SOURCE)]
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            if name in own if own else name.endswith(SOURCE + (".cuh", ".h", ".hpp")):
                with open(os.path.join(place, name), errors="replace") as file:
                    found = LIBRARY.search(file.read())
                if found:
                    return found.group(1)
    return None


def checks_itself(folder):
    """1: some text in a program's sources speaks of a right or a wrong result."""
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(SOURCE + (".cuh", ".h", ".hpp")):
                with open(os.path.join(place, name), errors="replace") as file:
                    if CHECK.search(file.read()):
                        return 1
    return 0


def missing_data(folder, arguments):
    """The first argument that is the path of a file which the collection does not bring, by its ending; None."""
    for word in arguments:
        path = word.split("=")[-1]
        if re.search(r"[a-zA-Z_]\w*\.(txt|bin|ppm|pgm|bmp|csv|dat|in|seq|cssr|fa|mtx|avi|gz|su|raw|par|data|html|json)$", path) or path.startswith("../"):
            output = re.search("out|result", os.path.basename(path))
            if not output and not os.path.exists(os.path.join(folder, path)):
                return path
    return None


def reason_of_compiler(text):
    for pattern in (r"(?:fatal error|error): (.*)", r"(undefined reference to .*)", r"(cannot find .*)", r"(minigpu-cc: .*)"):
        found = re.search(pattern, text)
        if found:
            return found.group(1)[:160]
    lines = text.strip().splitlines()
    return lines[-1][:160] if lines else "?"


def command_line(folder, program):
    """The program's arguments as its authors run it."""
    texts = []
    if os.path.exists(os.path.join(folder, "Makefile")):
        done = subprocess.run(["make", "-n", "run"], cwd=folder, capture_output=True, text=True)
        texts.append(done.stdout)
    if os.path.exists(os.path.join(folder, "run")):
        with open(os.path.join(folder, "run"), errors="replace") as file:
            texts.append(file.read())
    for line in "\n".join(texts).splitlines():
        found = re.match(r"\s*(?:\./|[a-z]+/)?%s\b([^>;|&#]*)" % re.escape(program), line.replace("./" + program, program))
        if found and not line.lstrip().startswith("#"):
            return found.group(1).split()
    return []


def smaller(arguments, divisor):
    """Large whole numbers divided; the last of several is a number of repetitions in most programs, and becomes 1."""
    out = []
    for place, word in enumerate(arguments):
        if not re.fullmatch(r"\d+", word) or int(word) <= 32:
            out.append(word)
        elif len(arguments) > 1 and place == len(arguments) - 1:
            out.append("1")
        else:
            out.append(str(max(int(word) // divisor, 32)))
    return out


def verdict(status, text, silent):
    """right, unchecked or wrong, and why. silent: what the program's check prints on failure, and else nothing."""
    if status in (-24, -9, 137, 152):
        return "no", "time limit"
    if status == -1000:
        return "no", "the machine was too busy: try again"
    if status:
        lines = [line for line in text.strip().splitlines() if line.strip()] or ["?"]
        told = [line for line in lines if "minigpu" in line] or [line for line in lines if WRONG.search(line)] or lines[-1:]
        return "no", "status %d: %s" % (status, told[0][:160])
    if EXPECTED.search(text):  # a kernel was to fail, and has
        text = "\n".join(line for line in text.splitlines() if not EXPECTED.search(line) and "assertion `" not in line)
    plain = NO_FAILURE.sub("", text)
    wrong = WRONG.search(plain)
    if wrong:
        return "no", "says: " + plain[max(plain.rfind("\n", 0, wrong.start()), 0):].strip().splitlines()[0][:160]
    if silent and re.search(silent, text):
        return "no", "says: " + re.search(".*(%s).*" % silent, text).group(0)[:160]
    return ("yes" if silent or RIGHT.search(text) else "unchecked"), ""


def run(folder, program, options, row, environment, silent):
    own = command_line(folder, program)
    tried = []
    if row.get("arguments"):
        tried = [shlex.split(row["arguments"])]
    else:
        for arguments in (smaller(own, 512), smaller(own, 64), own):
            if arguments not in tried:
                tried.append(arguments)
    best = None
    for arguments in tried:
        status, text, seconds = limited(["./" + program] + arguments, folder, options.seconds, environment)
        right, reason = verdict(status, text, silent)
        result = (right, reason, shlex.join(arguments), seconds, status, text)
        if best is None or (best[0] == "no" and right != "no") or (best[1] == "time limit" and reason != "time limit"):
            best = result
        if right != "no" or reason == "time limit" or status == -1000:
            break
    right, reason, row["arguments"], seconds, status, text = best
    row.update(ran="yes" if status == 0 else "no", right=right, reason=reason, run_seconds="%.1f" % seconds)
    return text


def count(folder, options, toolkit, known):
    row = dict.fromkeys(FIELDS, "")
    row["program"] = os.path.relpath(folder, options.root) if options.root else folder
    before = known.get(row["program"], {})
    listed = options.listed.get(row["program"], {})
    flags = listed.get("flags", "")
    library = library_of(folder, flags)
    if library:
        row.update(right="out", reason="library: " + library)
        return row, ""
    if options.rule and not checks_itself(folder):
        row.update(right="out", reason="no check of its own")
        return row, ""
    for name in (listed.get("missing") or "").split():
        if options.rule and not os.path.exists(os.path.join(folder, name)):
            row.update(right="out", reason="no data file " + name)
            return row, ""
    folder = place_of(folder)
    present = executables(folder)
    if not ((options.again or options.present) and present):
        status, text, seconds = build(folder, options, toolkit, flags)
        made = executables(folder)
        row.update(compiled="yes" if made else "no", compile_seconds="%.1f" % seconds)
        if not made:
            row.update(ran="no", right="no", reason=reason_of_compiler(text))
            return row, text
        present = made
    row["compiled"] = "yes"
    row["arguments"] = listed.get("arguments") or before.get("arguments", "")
    if options.build:
        return row, ""
    lacks = missing_data(folder, shlex.split(row["arguments"]) or command_line(folder, sorted(present)[0]))
    if options.rule and lacks:
        row.update(right="out", reason="no data file " + lacks)
        return row, ""
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.join(toolkit, "lib64"))
    if options.minigpu:
        environment["MINIGPU"] = options.minigpu
    text = run(folder, sorted(present)[0], options, row, environment, listed.get("silent"))
    return row, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--minigpu-cc", required=True, metavar="PATH")
    parser.add_argument("--csv", required=True, metavar="FILE", help="the table, written as the count goes on")
    parser.add_argument("--log", metavar="FOLDER", help="what each program printed")
    parser.add_argument("--root", metavar="FOLDER", help="programs are named from here")
    parser.add_argument("--seconds", type=int, default=10, help="processor time of one run")
    parser.add_argument("--compile-seconds", type=int, default=90, help="processor time of one build")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER")
    parser.add_argument("--flags", default="", help="of minigpu-cc, behind the program's own")
    parser.add_argument("--minigpu", metavar="SETTING", help="the variable MINIGPU")
    parser.add_argument("--list", metavar="CSV", help="programs, flags and arguments; FOLDER... picks from it")
    parser.add_argument("--build", action="store_true", help="build only; --present runs what was built")
    parser.add_argument("--present", action="store_true", help="build nothing that is built already")
    parser.add_argument("--rule", action="store_true", help="leave programs out that have no check of their own, or that "
                        "read a file which is not there")
    parser.add_argument("--again", metavar="CSV", help="run what is built already, with the arguments of this table; "
                        "programs that were not right or unchecked there are left out")
    options = parser.parse_args()
    toolkit = stand_in(os.path.abspath(options.csv) + ".toolkit", options.minigpu_cc, options.flags)
    known = {}
    if options.again:
        with open(options.again) as file:
            known = {row["program"]: row for row in csv.DictReader(file) if row["right"] != "no"}
    options.listed = {}
    if options.list:
        with open(options.list) as file:
            options.listed = {row["program"]: row for row in csv.DictReader(file)}
        options.folders = options.folders or [os.path.join(options.root or "", name) for name in options.listed]
    if not options.folders:
        parser.error("which programs? --list CSV or FOLDER...")
    fresh = not os.path.exists(options.csv)
    with open(options.csv, "a", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        if fresh:
            table.writeheader()
        for folder in options.folders:
            name = os.path.relpath(folder, options.root) if options.root else folder
            if options.again and name not in known:
                continue
            row, text = count(os.path.abspath(folder), options, toolkit, known)
            table.writerow(row)
            file.flush()
            if options.log:
                os.makedirs(options.log, exist_ok=True)
                with open(os.path.join(options.log, row["program"].replace("/", "+")), "w") as log:
                    log.write(text)
            print("%-40s %-9s %s" % (row["program"], row["right"], row["reason"]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
