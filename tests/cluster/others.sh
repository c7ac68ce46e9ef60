#!/bin/sh
# The same shards under MPI, GNU parallel and make, and shards of the other commands: others.sh BUILD_DIR
# Each merged file equals that of a run without shards. What is not installed is left out, and said.
# Exit status: 0 right, 1 wrong.
set -u
build=$(cd "$1" && pwd) && source=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
work=$(mktemp -d) && cd "$work" || exit 1
trap 'cd / && rm -rf "$work"' EXIT
tbsim=$build/examples/tbsim/tbsim sweep="$build/examples/tbsim/tbsim sweep --workloads 32 --processes 4 --schedule equal" status=0
$sweep --out whole.csv >/dev/null || exit 1
same() { # same HOW: merges what HOW has made
    "$tbsim" merge "$1.csv" "$1"-part*.csv >/dev/null && cmp "$1.csv" whole.csv && echo "$1: the merged file is that of one run" || { echo "WRONG: $1"; status=1; }
}
if command -v mpirun >/dev/null 2>&1; then
    # A process learns its number from the launcher: Open MPI and MPICH (PMI) say it in different variables.
    rank='rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}'
    mpirun -n 2 sh -c "$rank; exec $sweep --shard \$rank/2 --out mpi-part\$rank.csv" >/dev/null || status=1
    same mpi
else echo "not tried: mpirun (apt-get install mpich)"; fi
if command -v parallel >/dev/null 2>&1; then
    parallel --will-cite -j 2 "$sweep --shard {}/4 --out parallel-part{}.csv" ::: 0 1 2 3 >/dev/null || status=1
    same parallel
else echo "not tried: parallel (apt-get install parallel)"; fi
printf 'all: make-part0.csv make-part1.csv make-part2.csv make-part3.csv\nmake-part%%.csv:\n\t%s --shard $*/4 --out $@.new && mv $@.new $@\n' "$sweep" >Makefile
make -s -j 2 >/dev/null || status=1
rm -f make-part2.csv
make -s -j 2 >/dev/null || status=1 # what is there is not made again
same make

# The other commands with shards, on the smallest of their experiments.
minigpu=$build/examples/minigpu/minigpu
parts() { # parts NAME OPTION...: writes NAME-whole, NAME-part0 and NAME-part1 by a command that prints its table
    name=$1
    shift
    "$@" >"$name-whole" && "$@" --shard 0/2 >"$name-part0" && "$@" --shard 1/2 >"$name-part1"
}
equal() { cmp "$1-all" "$1-whole" && echo "$1: the merged parts are that of one run" || { echo "WRONG: $1"; status=1; }; }
set -- --kernel bfs_2 --kernel hotspot --requests 1 --deadline-us 5 --victims switch --quiet
parts policies "$minigpu" policies "$@" && "$minigpu" policies --merge policies-part0 policies-part1 "$@" >policies-all
equal policies
# A merged page begins with the results on one page, so the whole one is read by --merge, too.
set -- --only T.save --only T.resource --only T.occupancy --only T.tables --markdown
parts reproduce "$build/bench/reproduce" "$@" && "$build/bench/reproduce" --merge "$@" reproduce-part0 reproduce-part1 >reproduce-all &&
    mv reproduce-whole reproduce-page && "$build/bench/reproduce" --merge "$@" reproduce-page >reproduce-whole
equal reproduce
set -- pairs --pairs 2 --partition even --oracle 0 --cycles 5000 --warm 2000 --quiet
"$minigpu" "$@" --csv pairs-whole >pairs.log && "$minigpu" "$@" --csv pairs-part0 --shard 0/2 >pairs.log &&
    "$minigpu" "$@" --csv pairs-part1 --shard 1/2 >pairs.log && "$minigpu" pairs merge pairs-all pairs-part0 pairs-part1 >pairs.log
equal pairs
# A sweep that has been cut off goes on: the rows that are there are kept, and the table is that of a whole run.
set -- sweep "$source/examples/minigpu/kernels/saxpy/small.yaml" --vary sms=1,2,4 --quiet
"$minigpu" "$@" --out sweep-whole >sweep.log && head -n 2 sweep-whole >sweep-all && "$minigpu" "$@" --out sweep-all >sweep.log
equal sweep
exit $status
