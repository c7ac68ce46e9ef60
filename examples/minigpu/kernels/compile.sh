#!/bin/sh
# Compiles every folder's NAME.cu to NAME.ptx and writes ptxas_registers.csv. Needs nvcc (the PTX files are committed, so
# only someone who changes a kernel runs this). sh compile.sh [NAME...] does some folders and leaves the CSV alone.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
ptxas=${PTXAS:-$(dirname "$nvcc")/ptxas}
arch=compute_75
given=$#
[ $# -gt 0 ] || set -- $(ls -d */ | tr -d /)
for name in "$@"; do
    [ -f "$name/$name.cu" ] || continue
    (cd "$name" && "$nvcc" -ptx -arch=$arch -o "$name.new" "$name.cu")
    {
        echo "// $name.cu compiled by: nvcc -ptx -arch=$arch -o $name.ptx $name.cu"
        sed -n 's|^// Cuda compilation tools, \(.*\)|// CUDA \1|p' "$name/$name.new"
        sed '/^\/\//d' "$name/$name.new" | cat -s | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
    } >"$name/$name.ptx"
    rm "$name/$name.new"
done
[ "$given" -eq 0 ] || exit 0

# Registers per thread by ptxas for sm_75: its own choice, the fewest without more spilling (-maxrregcount from 24 up, which is as low
# as it goes), and what it uses when it leaves the order of instructions alone (-O1).
usage() { # PTX-FILE [OPTION]: prints "kernel registers spilled-bytes" per kernel
    "$ptxas" -arch=sm_75 -v ${2:-} -o /dev/null "$1" 2>&1 | awk '
        /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
        /bytes spill stores/ { for (i = 1; i <= NF; i++) if ($i == "spill" && $(i + 1) ~ /^stores/) spill = $(i - 2) }
        /Used [0-9]+ registers/ { for (i = 1; i <= NF; i++) if ($i == "Used") print kernel, $(i + 1), spill + 0 }'
}
echo "folder,kernel,registers_default,registers_fewest,registers_unscheduled,spilled_default_b,spilled_below_fewest_b" >ptxas_registers.csv
for name in "$@"; do
    [ -f "$name/$name.ptx" ] || continue
    usage "$name/$name.ptx" | while read -r kernel registers spilled; do
        fewest=$registers
        worse=-
        limit=$((registers > 24 ? registers - 1 : 24))
        while [ $limit -ge 24 ]; do
            set -- $(usage "$name/$name.ptx" -maxrregcount=$limit | grep "^$kernel ")
            if [ "$3" -gt "$spilled" ]; then worse=$3; break; fi
            [ "$2" -lt $fewest ] && fewest=$2
            limit=$((limit - 1))
        done
        set -- $(usage "$name/$name.ptx" -O1 | grep "^$kernel ")
        echo "$name,$kernel,$registers,$fewest,$2,$spilled,$worse"
    done >>ptxas_registers.csv
done
