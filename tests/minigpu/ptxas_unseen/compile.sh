#!/bin/sh
# Makes the PTX beside each source again, and what ptxas says of its kernels. Needs nvcc; the results are committed, so nobody else does.
set -e
cd "$(dirname "$0")"
for source in *.cu; do
    name=${source%.cu}
    "${NVCC:-nvcc}" -ptx -arch=compute_75 -o "$name.ptx" "$source"
    # nvcc writes the build's identity into comments: drop them, so that nothing changes without a reason
    sed -i -e '/^\/\/ \(Generated\|Compiler Build\|Cuda compilation\|Based on\)/d' "$name.ptx"
    sh ../../../examples/minigpu/kernels/ptxas_registers.sh "$name.ptx" >"$name.csv"
done
