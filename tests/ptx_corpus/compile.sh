#!/bin/sh
# Makes the PTX beside each CUDA source again. Needs nvcc; the PTX is committed, so nobody else does.
set -e
cd "$(dirname "$0")"
for source in *.cu; do
    nvcc -ptx -arch=sm_75 -O3 -o "${source%.cu}.ptx" "$source"
    # nvcc writes the build's identity into comments: drop them, so that nothing changes without a reason
    sed -i -e '/^\/\/ \(Generated\|Compiler Build\|Cuda compilation\|Based on\)/d' "${source%.cu}.ptx"
done
