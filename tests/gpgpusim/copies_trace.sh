#!/bin/sh
# copies_trace.sh FOLDER [BLOCKS [STEPS]]: writes the trace of a kernel whose warps load tiles into shared memory by asynchronous
# copies (LDGSTS), two groups of them in flight, as a recorded matrix product has them. tests/gpgpusim/traces.cc has the same state by hand.
folder=${1:?usage: copies_trace.sh FOLDER [BLOCKS [STEPS]]}
case ${2:-1}${3:-1} in *[!0-9]*) echo "copies_trace.sh: \"$2 $3\" are no numbers of blocks and steps" >&2; exit 2 ;; esac
mkdir -p "$folder" || exit 2
echo kernel-1.traceg >"$folder/kernelslist.g" || exit 2
awk -v blocks="${2:-48}" -v steps="${3:-24}" '
function line(text) { body = body sprintf("%04x %s \n", 16 * lines++, text) }
function copies(step,    i) { # of a step: two loads of 16 bytes per lane, which are a group
    for (i = 0; step < steps && i < 2; i++)
        line("ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 " sprintf("0x7f%010x 16 0", ((block * steps + step) * 2 + i) * 2048 + warp * 512))
    line("ffffffff 0 LDGDEPBAR 0 0 0")
}
BEGIN {
    print "-kernel name = copies\n-kernel id = 1\n-grid dim = (" blocks ",1,1)"
    print "-block dim = (128,1,1)\n-shmem = 16384\n-nregs = 32"
    print "-binary version = 86\n-cuda stream id = 0"
    print "-shmem base_addr = 0x00007f8000000000\n-local mem base_addr = 0x00007f8100000000"
    print "-nvbit version = 1.5.5\n-accelsim tracer version = 5\n-enable lineinfo = 0\n"
    print "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?]" \
          " [mem_addresses] immediate\n"
    for (block = 0; block < blocks; block++) {
        print "#BEGIN_TB\n\nthread block = " block ",0,0\n"
        for (warp = 0; warp < 4; warp++) {
            body = ""; lines = 0
            line("ffffffff 1 R2 MOV 0 0 0"); line("ffffffff 1 R4 MOV 0 0 0"); line("ffffffff 1 R8 MOV 0 0 0")
            copies(0); copies(1)
            for (step = 0; step < steps; step++) {
                line("ffffffff 0 DEPBAR.LE 0 0 1") # all groups but the last
                line("ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0")
                line(sprintf("ffffffff 1 R12 LDS.128 1 R4 16 1 0x%x 16 0", step % 2 * 8192 + warp * 512))
                line("ffffffff 1 R8 FFMA 3 R8 R12 R13 0 0")
                line("ffffffff 0 BAR.SYNC.DEFER_BLOCKING 0 0 0")
                copies(step + 2)
            }
            line(sprintf("ffffffff 0 STG.E 2 R2 R8 4 1 0x7e%010x 4 0", (block * 4 + warp) * 128))
            line("ffffffff 0 EXIT 0 0 0")
            print "warp = " warp "\ninsts = " lines "\n" body
        }
        print "#END_TB\n"
    }
}' >"$folder/kernel-1.traceg" || { echo "copies_trace.sh: cannot write $folder/kernel-1.traceg" >&2; exit 2; }
