#!/bin/sh
# headers.sh MINIGPU_CC: functions of the headers give what the host computes (headers.cu, textures.cu, min_max.cu,
# overloads.cu, precision.cu, fast.cu), tiles of several warps (tiles.cu), graphs and memory pools (graphs.cu), the
# device's heap (heap.cu), many steps of random numbers (random.cu), launches with attributes (attributes.cu), several files share device code (relocatable),
# programs are told what nvcc tells them and find the helpers of CUDA's samples (helpers.cu), wrong use of the run-time
# interface gives CUDA's error (wrong_use.cu), and wrong settings of MINIGPU end with status 2 and a sentence.
set -eu
compiler=$1 here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$compiler" -Wall -Werror -Wno-unused-function "$here/headers.cu" -o headers
./headers
"$compiler" -Wall -Werror -Wno-unused-function "$here/textures.cu" -o textures
./textures
for functions in min_max overloads precision graphs tiles heap random fast attributes; do
    "$compiler" -Wall -Werror "$here/$functions.cu" -o $functions
    ./$functions
done
MINIGPU=policy:dual,report ./attributes 2>err
[ "$(grep -c 'request of _Z6urgent.*policy dual' err)" = 2 ] || { echo "a launch or a node of a graph with a priority preempts nobody"; cat err; exit 1; }
"$compiler" -Wall -Werror "$here/by_value.cu" -o by_value
./by_value || { echo "a struct that a function gets by value is wrong"; exit 1; }
"$compiler" -Wall -Werror "$here/host_function.cu" -o host_function
./host_function
# Device code of several files: in one step, and by objects of which one lies in an archive.
"$compiler" -Wall -Werror -rdc=true "$here/relocatable/main.cu" "$here/relocatable/other.cu" -o relocatable
./relocatable
"$compiler" -Wall -Werror -dc "$here/relocatable/main.cu"
"$compiler" -Wall -Werror -dc "$here/relocatable/other.cu"
ar rc libother.a other.o
"$compiler" main.o libother.a -o relocatable
./relocatable
# Options of nvcc: a language by --x, objects named .obj, and a C++ standard where C is compiled.
echo 'int seven(void) { return 7; }' >seven.c
"$compiler" -std=c++17 -c seven.c -o seven.obj
cp "$here/overrun.cu" overrun.txt
"$compiler" -Wall -Werror --default-stream per-thread --x cu overrun.txt seven.obj -o overrun
! ./overrun >out 2>err || { echo "an access beyond an allocation is not noticed"; exit 1; }
grep -q '^cudaErrorIllegalAddress' out && grep -q 'beyond its end' err || { cat out err; exit 1; }
MINIGPU=granule_bytes:512 ./overrun || { echo "an access within a granule is noticed"; exit 1; }
"$compiler" -Wall -Werror "$here/helpers.cu" -o helpers
./helpers
! ./helpers and_fail 2>err || { echo "checkCudaErrors lets an error pass"; exit 1; }
grep -q 'helpers.cu:[0-9]*: cudaMemcpy(.*cudaErrorInvalidValue' err || { echo "the failed call is not named"; cat err; exit 1; }
"$compiler" -Wall -Werror "$here/wrong_use.cu" -o wrong_use
./wrong_use 2>err || { cat err; exit 1; }
grep -q 'address 0x[0-9a-f]*34, which belongs to no buffer' err || { echo "the invalid access is not named"; cat err; exit 1; }
# Of more launches than a record holds the first 1,000 are recorded, the last of these as it should be.
"$compiler" -Wall -Werror "$here/many_launches.cu" -o many_launches
MINIGPU=record:many,sms:1 ./many_launches 1001 >out 2>err || { cat out err; exit 1; }
grep -q 'the first 1000 launches are recorded' err || { echo "nothing is said of launches that are not recorded"; exit 1; }
[ "$(grep -c '^ *expect:' many/1000.yaml)" = 1 ] || { echo "a launch that is not recorded spoils the last record"; exit 1; }
bad=0
refused() { # SETTING WORDS
    status=0
    MINIGPU=$1 ./wrong_use first >out 2>&1 || status=$?
    if [ $status -ne 2 ] || ! grep -qF -- "$2" out; then
        echo "MINIGPU=$1: status $status, and it says:"
        cat out
        bad=1
    fi
}
refused nosuch:1 'there is no option --nosuch'
refused nosuch:1 'MINIGPU=help ./PROGRAM lists the keys'
refused gpu:nosuch 'no GPU preset is named "nosuch"'
refused policy:nosuch '--victims needs'
refused limit_us:x '--deadline-us needs microseconds'
refused :3 'key:value, not'
refused schedule '--schedule needs a value'
refused config:nosuch=1 'config nosuch=1: the machine has no number of that name'
for of_run in json csv dump:folder races write_trace:folder; do refused $of_run 'are for minigpu run'; done
MINIGPU=stats ./helpers >out 2>err
grep -q 'L1 loads' err || { echo "MINIGPU=stats prints no statistics"; cat err; bad=1; }
exit $bad
