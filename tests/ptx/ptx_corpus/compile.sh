#!/bin/sh
# Makes the PTX beside each source again. Needs nvcc and clang; the PTX is committed, so nobody else does.
set -e
cd "$(dirname "$0")"
for source in *.cu; do
    arch=$(sed -n 's/^\/\/ arch: //p' "$source") # in the source's first lines where sm_75 is too old
    nvcc -std=c++17 -ptx -arch="${arch:-sm_75}" -O3 -o "${source%.cu}.ptx" "$source"
    # nvcc writes the build's identity into comments: drop them, so that nothing changes without a reason
    sed -i -e '/^\/\/ \(Generated\|Compiler Build\|Cuda compilation\|Based on\)/d' "${source%.cu}.ptx"
done
for source in *.cl; do
    clang -x cl -cl-std=CL2.0 -Xclang -finclude-default-header --target=nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_70 -O2 -S \
        -o "${source%.cl}.ptx" "$source"
done
