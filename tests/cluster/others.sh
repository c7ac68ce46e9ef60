#!/bin/sh
# The same shards under MPI, GNU parallel and make: others.sh BUILD_DIR
# Each merged file equals that of a sweep without shards. What is not installed is left out, and said.
# Exit status: 0 right, 1 wrong.
set -u
build=$(cd "$1" && pwd) || exit 1
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
exit $status
