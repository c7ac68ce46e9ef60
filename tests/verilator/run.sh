#!/bin/sh
# The SystemVerilog design of examples/verilator: run.sh SOURCE WORK HOST_CYCLES
# With as many ports as blocks it decides as host_cycles does, line by line. With one port every policy ends with all blocks done, by the
# techniques of the policy; the test bench compares counters. Wrong plus-arguments are refused by name.
# Exit status: 0 right, 1 wrong, 77 skipped: there is no verilator of version 5 (apt-get install verilator).
set -u
source=$1 work=$2 host_cycles=$3
command -v verilator >/dev/null 2>&1 && verilator --version | grep -q '^Verilator 5' ||
    { echo "SKIPPED: there is no verilator of version 5 (apt-get install verilator)"; exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
design=$source/examples/verilator
verilator --binary -Wall -j 2 --top-module testbench --Mdir obj -CFLAGS "-I$source -Wall -Wextra -Werror" \
    -CFLAGS '-DGPUMP_DPI_HEADER=\"Vtestbench__Dpi.h\"' "$design/gpump_dpi.sv" "$design/sm_scheduler.sv" "$design/testbench.sv" \
    "$design/gpump_dpi.c" >build.log 2>&1 || { cat build.log; exit 1; }
status=0
complain() { echo "WRONG: $*"; status=1; }

"$host_cycles" >expected && timeout 300 obj/Vtestbench +issue_ports=32 +dispatch_ports=32 >wide || complain "the wide design does not end"
head -n "$(wc -l <expected)" wide | diff expected - >differs || { cat differs; complain "the design decides otherwise than host_cycles"; }

says() { # says POLICY REGULAR-EXPRESSION: of the counters at the end
    timeout 300 obj/Vtestbench "+policy=$1" >said 2>&1 && grep -q 'all 32 blocks have ended' said && grep -E "$2" said ||
        { tail -n 4 said; complain "policy $1: not $2"; }
}
says drain ' 0 of them wasted; blocks: 0 saved, 0 restored, 0 flushed'
says switch ' 0 of them wasted; blocks: ([1-9]) saved, \1 restored, 0 flushed'
says flush ' [1-9][0-9]* of them wasted; blocks: 0 saved, 0 restored, [1-9] flushed'
says joint 'blocks: [0-9] saved'

refuses() { # refuses ARGUMENT TEXT: ends with an error that has TEXT, and with a status above 0
    timeout 300 obj/Vtestbench "$1" >said 2>&1 && complain "$1 is accepted"
    grep -q "$2" said || { cat said; complain "$1: no word of '$2'"; }
}
refuses +policy=nosuch 'policy: no preset, policy or kernel of that name'
refuses +preset=k21 'preset: no preset'
refuses +limit_us=-1 'limit_us is -1'
refuses +issue_ports=0 'issue_ports is 0'
exit $status
