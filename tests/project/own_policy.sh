#!/bin/sh
# own_policy.sh SOURCE BUILD WORK: policies of one's own are built into the hosts and appear there under their own names.
# The build has those of examples/policies; a second one, with a policy called "mine", is configured here.
set -eu
source=$1 build=$2 work=$3
cmake=${CMAKE:-cmake}
fail() { echo "own_policy.sh: $*" >&2; exit 1; }
wants() { # PATTERN COMMAND...: the command ends well and prints the pattern
    pattern=$1; shift
    "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "$* failed"; }
    grep -q -- "$pattern" "$work/out" || { cat "$work/out" >&2; fail "$* does not print \"$pattern\""; }
}
refuses() { # STATUS PATTERN COMMAND...: the command ends with that status and says so
    status=$1 pattern=$2; shift 2
    code=0; "$@" >"$work/out" 2>&1 || code=$?
    [ $code = "$status" ] || { cat "$work/out" >&2; fail "$* ended with $code, not $status"; }
    tr '\n' ' ' <"$work/out" | tr -s ' ' | grep -q -- "$pattern" || { cat "$work/out" >&2; fail "$* does not say \"$pattern\""; }
}
mkdir -p "$work"

# The files of examples/policies in the hosts of this build.
minigpu=$build/examples/minigpu/minigpu tbsim=$build/examples/tbsim/tbsim micro=$build/bench/micro
if [ -x "$minigpu" ]; then
    wants '^| hurry | 2 |' "$minigpu" policies --victims dual --victims hurry --requests 1 --kernel bfs_2 --deadline-us 2
    wants ' right' "$minigpu" run "$source/examples/minigpu/launches/three_processes.yaml" --schedule shortest
    refuses 2 'hurry' "$minigpu" policies --victims nobody
    wants 'worst_first | HSpeedup' "$minigpu" corun "$source/examples/minigpu/launches/corun_backprop_cfd.yaml" \
        --partition worst_first --cycles 2000 --warm 2000
    refuses 2 'worst_first' "$minigpu" corun "$source/examples/minigpu/launches/corun_backprop_cfd.yaml" --partition nobody
fi
if [ -x "$tbsim" ]; then
    wants 'shortest' "$tbsim" run "$source/examples/tbsim/workloads/figure_5_1.yaml" --schedule shortest
    refuses 2 'shortest' "$tbsim" run "$source/examples/tbsim/workloads/figure_5_1.yaml" --schedule nobody
fi
if [ -x "$micro" ]; then
    wants '^victim_hurry_blocks' "$micro" --list --only victim
    wants '^scheduler_shortest_event' "$micro" --list --only scheduler
fi

# The documented command with a file of one's own, as far as the smaller host.
sed -e 's/"shortest"/"mine"/' -e 's/my_scheduler_policy/mine/' "$source/examples/policies/my_scheduler_policy.c" >"$work/mine.c"
if [ -x "$tbsim" ]; then
    "$cmake" -S "$source" -B "$work/build" -DGPUMP_POLICY="$work/mine.c" -DGPUMP_TESTS=OFF -DGPUMP_BENCH=OFF -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_COMPILER_LAUNCHER="${LAUNCHER:-}" >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "no configuration"; }
    "$cmake" --build "$work/build" --target tbsim >"$work/out" 2>&1 || { cat "$work/out" >&2; fail "no build"; }
    wants 'mine' "$work/build/examples/tbsim/tbsim" run "$source/examples/tbsim/workloads/figure_5_1.yaml" --schedule mine
    refuses 2 'mine' "$work/build/examples/tbsim/tbsim" run "$source/examples/tbsim/workloads/figure_5_1.yaml" --schedule shortest
fi

# Files that cannot be used are named, with the remedy.
printf 'include(%s/gpump_impl/cmake/policies.cmake)\ngpump_find_policies("${FILES}" own)\n' "$source" >"$work/find.cmake"
echo 'static const gpump_victim_policy hidden = {0};' >"$work/hidden.c"
refuses 1 'hidden.c defines no policy; .* without static' "$cmake" -DFILES="$work/hidden.c" -P "$work/find.cmake"
refuses 1 'which is no file; give the absolute path' "$cmake" -DFILES="$work/nowhere.c" -P "$work/find.cmake"
refuses 1 'two policies have the same C name' "$cmake" "-DFILES=$work/mine.c;$work/mine.c" -P "$work/find.cmake"
echo "own_policy.sh: good"
