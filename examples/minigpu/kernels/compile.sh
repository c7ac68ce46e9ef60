#!/bin/sh
# Compiles every folder's NAME.cu to NAME.ptx and writes ptxas_registers.csv. Needs nvcc (the PTX files are committed, so
# only someone who changes a kernel runs this). sh compile.sh [NAME...] does some folders and leaves the CSV alone.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
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

sh ptxas_registers.sh */*.ptx >ptxas_registers.csv
