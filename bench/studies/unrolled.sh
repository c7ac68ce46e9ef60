#!/bin/sh
# What short regions and errors cost when loops are unrolled, as CSV: unrolled.sh BUILD [FOLD]
# The kernels of iGPU's suite keep the loops whose length is data, as compilers of the papers' years left them. A short
# region then ends in every round of such a loop. Here copies of them are compiled with these loops unrolled FOLD times
# (8), and run with their launch.yaml on igpu4: cycles without regions, and by how many percent more with regions of 32,
# with 1% errors (razor) and 0.1% (razor2), just-in-time spilling. The last lines are geometric means, and the energy
# saved at 15% less voltage and 0.1% errors. Needs nvcc. Takes some three minutes.
set -eu
build=$(cd "${1:?usage: unrolled.sh BUILD [FOLD]}" && pwd)
fold=${2:-8}
here=$(cd "$(dirname "$0")/../.." && pwd)
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cycles() { # FILE [OPTION...]
    file=$1
    shift
    "$build/examples/minigpu/minigpu" run "$file" --gpu igpu4 "$@" >"$work/log"
    awk '$2 == 0 && $NF == "right" { print $5; found = 1 } END { exit !found }' "$work/log"
}
echo "kernel,loops,cycles,regions,razor,razor2"
for kernel in aes bfs_1 cp dg lib lps mum nn_1 nn_2 nn_3 nn_4 nqu ray sto wp; do
    cp -r "$here/examples/minigpu/kernels/$kernel" "$work"
    sed "s/#pragma unroll 1\$/#pragma unroll $fold/" "$work/$kernel/$kernel.cu" >"$work/$kernel/unrolled.cu"
    (cd "$work/$kernel" && "$nvcc" -ptx -arch=compute_75 -o $kernel.ptx unrolled.cu)
    for loops in kept unrolled; do
        launch=$here/examples/minigpu/kernels/$kernel/launch.yaml
        [ $loops = kept ] || launch=$work/$kernel/launch.yaml
        plain=$(cycles "$launch")
        echo "$kernel,$loops,$plain,$(cycles "$launch" --regions 32),$(cycles "$launch" --regions 32 --detection razor),$(
            cycles "$launch" --regions 32 --detection razor2)"
    done
done | awk -F, '
    function percent(x) { return sprintf("%+.1f", 100 * (x - 1)) }
    { printf "%s,%s,%s", $1, $2, $3
      for (i = 4; i <= 6; i++) { sum[$2, i] += log($i / $3); printf ",%s", percent($i / $3) }
      print ""; count[$2]++; fflush() }
    END {
        for (n = split("kept unrolled", loops, " "); n; n--) {
            of = loops[3 - n]
            printf "(all),%s,", of
            for (i = 4; i <= 6; i++) printf ",%s", percent(exp(sum[of, i] / count[of]))
            printf "\n(energy saved),%s,,,,%.1f\n", of, 100 * (1 - 0.85 * 0.85 * exp(sum[of, 6] / count[of]))
        }
    }'
