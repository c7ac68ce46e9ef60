#!/bin/sh
# arguments.sh MINIGPU_CC: what minigpu-cc refuses before it compiles anything. Each refusal has status 2 and one sentence that names the
# argument, and the files stay as they are.
set -eu
compiler=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'int main() { return 0; }' >a.cu
cp a.cu b.cu
echo hello >a.txt
bad=0
refused() { # SENTENCE ARGUMENT...
    sentence=$1
    shift
    status=0
    "$compiler" "$@" >out 2>&1 || status=$?
    if [ $status -ne 2 ] || ! grep -qF -- "minigpu-cc: $sentence" out || [ "$(wc -l <out)" -ne 1 ]; then
        echo "minigpu-cc $*: status $status, and it says:"
        cat out
        echo "(expected: $sentence)"
        bad=1
    fi
}
refused 'which file?'
for option in -o -x -I -D -U -L -include -isystem -Xcompiler -Xlinker -std -gencode -arch -code -ccbin -Xptxas -maxrregcount -cudart -t; do
    refused "$option needs a value" a.cu "$option"
done
refused 'there is no file nofile.cu' nofile.cu -o x
refused 'there is no file nofile.cu' a.cu nofile.cu -o x
refused '. is a folder' . -o x
refused 'a.txt is no source by its name' a.txt -o x
refused 'no language is called fortran' -x fortran a.cu -o x
refused '-o names a.cu, which is read' a.cu -o a.cu
refused '-o names ./a.cu, which is read' b.cu a.cu -o ./a.cu
refused '-o names one file, and -c makes 2' -c a.cu b.cu -o x.o
refused '-o names one file, and -ptx makes 2' -ptx a.cu b.cu -o x.ptx
refused '-o needs a name' a.cu -o ''
mkdir d
cp a.cu d/a.cu
echo 'int main(void) { return 0; }' >a.c
refused 'a.c is no CUDA source, so -ptx makes nothing of it' -ptx a.c
refused 'two files make a.o' -c a.cu d/a.cu
refused 'two files make a.ptx' -ptx a.cu d/a.cu
"$compiler" -E a.c -o e.i >out 2>&1 && [ ! -s out ] && [ -s e.i ] || { echo "-E with -o does not write e.i"; bad=1; }
(export MINIGPU_CLANG=/no/clang++; refused "there is no compiler /no/clang++" a.cu -o x; exit $bad) || bad=1
# Libraries of NVIDIA are named when a program fails for want of them.
absent() { # NAME ARGUMENT...
    name=$1
    shift
    ! "$compiler" "$@" -o absent 2>out && grep -qF "minigpu-cc: the program uses $name, and that library is not there" out ||
        { echo "minigpu-cc $*: the missing library is not named"; cat out; bad=1; }
}
for header in cublas_v2.h thrust/device_vector.h curand.h; do
    printf '#include <%s>\nint main() {}\n' $header >absent.cu
    absent $header absent.cu
done
absent -lcufft a.cu -lcufft
echo 'int main() { return nothing; }' >absent.cu
! "$compiler" absent.cu -o absent 2>out && ! grep -q 'that library' out || { echo "a library is named in vain"; cat out; bad=1; }
# MINIGPU's outputs are refused before the program begins.
echo 'int main() { void *p; return cudaMalloc(&p, 4); }' >b.cu
"$compiler" b.cu -o b
minigpu_refuses() { # SENTENCE SETTING
    status=0
    MINIGPU=$2 ./b >out 2>&1 || status=$?
    [ $status -eq 2 ] && grep -qF -- "$1" out || { echo "MINIGPU=$2: status $status"; cat out; bad=1; }
}
minigpu_refuses 'cannot write nowhere/x.html: No such file' html:nowhere/x.html
minigpu_refuses 'b.cu is there and is neither a page nor a trace' html:b.cu
minigpu_refuses 'x.html is two outputs' html:x.html,trace:x.html
minigpu_refuses 'there is no option --nosuch' --nosuch
minigpu_refuses 'sms needs a number from 1 to 1024, not "0"' sms:2,,--sms:0
[ ! -e x.html ] || { echo "x.html was left"; bad=1; }
echo 'int main() { return 0; }' | cmp - a.cu || bad=1
[ ! -e x ] && [ ! -e x.o ] && [ ! -e a.out ] || { echo "something was written"; bad=1; }
exit $bad
