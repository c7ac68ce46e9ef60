#!/bin/sh
# Writes docs/registers.md: register counts of our kernels beside those of ptxas. Usage: sh docs/registers.sh BUILD-FOLDER
set -eu
build=${1:?usage: sh docs/registers.sh BUILD-FOLDER}
cd "$(dirname "$0")/.."
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
"$build/examples/minigpu/minigpu" analyze --survey examples/minigpu/kernels --csv >"$counts"
for file in tests/minigpu/ptxas_unseen/unseen.ptx tests/minigpu/ptxas_unseen/unseen_2.ptx tests/minigpu/ptxas_unseen/unseen_3.ptx; do
    "$build/examples/minigpu/minigpu" analyze "$file" --csv | sed 1d
done >>"$counts"
cat >docs/registers.md <<'END'
# Registers per thread: gpump and ptxas

The register counts of gpump agree with ptxas for five of six of our kernels, and for about seven of ten
kernels that no rule was made with. This page is the output of `sh docs/registers.sh build`.

- *default*: what ptxas 13.0 chooses for sm_75 (`ptxas -v`).
- *fewest*: the least that ptxas manages without more spilling (`-maxrregcount`, which takes no limit below
  24). Both come from `examples/minigpu/kernels/ptxas_registers.sh`.
- *PTX order*: gpump_registers_allocate on the kernel as it stands, with parameters read in place. The
  mini-GPU runs with these counts.
- *model*: `sm75_registers`, described below.
- *peak*: most registers live at once in PTX order, parameters included.

A count agrees when its distance to the nearest point of [fewest, default] is at most max(2, 15% of default).
Otherwise the table says how far off it is. PTX order needs fewer registers than ptxas takes, because ptxas
spends free registers on more loads in flight. Only above 64 registers per thread an SM of sm_75 is no longer
full of warps.

## The model

Each rule was read off the machine code of ptxas and holds for every kernel. No number in the model was fitted
to the tables.

Selecting instructions (`examples/minigpu/analysis/sm75_select.c`):

- Parameters and the sizes of block and grid are operands in the constant bank; constants are immediates, zero
  is RZ. An instruction takes one such operand, the rest is moved into registers: a constant once for all that
  it dominates, what is in the constant bank each time. Addresses of global variables are in a constant bank.
- mul.wide and add are one IMAD.WIDE, whose scale needs a register when the base is in the constant bank
  (`IMAD.WIDE R2, R4, R5, c[0][0x168]`, R5 = 4).
- A base in the constant bank plus an offset that is in registers anyway is `[R2.U64+UR4]`.
- Constants leave additions for the offsets of loads and stores; shared memory is addressed as `[R0.X4]`.
- Four loads of neighbouring words of shared memory are one of 128 bits where the address is a multiple of 16;
  bytes loaded together stay packed.
- 32-bit integer results that all lanes share are in uniform registers, where all running lanes come along.
- A load moves up to the block that dominates its own, if each runs as often as the other and nothing is
  stored in between.

Unrolling (`examples/minigpu/analysis/sm75_unroll.c`): a loop of one basic block is four rounds long when its
counter goes up by a constant, unless `.pragma "nounroll"` stands before it, or a call or routine in it. Each
round has counters and pointers of its own (four loads by a pointer that walks take 18 registers where one
takes 10). How long a loop may be was read off the size of what ptxas makes of loops that grow by one
instruction: 50 instructions, loads counting twice and a widened product with its sum once; 22 without loads.

Scheduling (`latency_schedule`): the instruction on which the longest chain waits goes first; loads are taken
to last 200 cycles, from shared memory 30. A pipe takes the next instruction after 2 cycles (integer, floating
point), 4 (memory) or 8 (MUFU, double), the distances at which ptxas places them. Constants are set last.
Divisions and roots that are routines end a basic block.

Colouring (`examples/minigpu/analysis/sm75_registers.c`), in the order of the code, the lowest register that
is free:

- What an instruction behind a scoreboard reads (a load's address, a store's data) is not given out again
  before its result is waited for, a store's not in the same block; the result itself may take its place
  (`LDG.E R2, [R2.64]`).
- All registers that an instruction reads should not be in one of the two banks (even, odd), a pair counting
  as its even half: of 145 + 21 global stores with a 64-bit address in these kernels 145 have their data in an
  odd register.
- 64-bit values are even pairs, values of a vector load or store stand side by side; the low half of a widened
  integer is the integer.
- A division or root that is a routine needs registers of its own: what ptxas gives a kernel of this one
  instruction, less its operands and the three that every kernel has. Float division 8, root 4, reciprocal 10;
  double 17, 13, 8; integer division, which is inline, 7 (unsigned 5, 64-bit 15).
- A kernel that calls the run-time library (printf, assert, malloc, free) has at least 24 registers.
- R1 is the stack pointer, and two registers are counted that no instruction names (the highest in saxpy is
  R7, its count is 10).
- When more than 64 would be taken, operands are no longer held (lbm shows ptxas waiting for read barriers
  instead), then instructions move half as far, a quarter, and so on.

What the model does not know: short branches that ptxas predicates, loops that run in the uniform data path,
atomics that it combines, loops whose number of rounds it knows and unrolls whole, and how much it holds back
of what an unrolled loop could start at once (fir, crc, color_argmax below).

`tests/minigpu/ptxas_rules.ptx` has a kernel for each rule of loops, calls, divisions and variables, and
`tests/minigpu/analyze.c` compares it with what ptxas gave.

END
awk -F, '
    FNR == 1 { n++; for (i = 1; i <= NF; i++) column[$i] = i; if (FILENAME ~ /csv$/) next }
    FILENAME ~ /csv$/ { key = $column["kernel"]; set[key] = n; normal[key] = $column["registers_default"]
                        fewest[key] = $column["registers_fewest"]; order[++kernels] = key; next }
    { ours[$column["kernel"]] = $column["registers"]; model[$column["kernel"]] = $column["registers_sm75"]; peak[$column["kernel"]] = $column["live_peak"] }
    function distance(n, k) { return n < fewest[k] ? fewest[k] - n : n > normal[k] ? n - normal[k] : 0 }
    function allowed(k) { return normal[k] * 0.15 > 2 ? normal[k] * 0.15 : 2 }
    function agrees(n, k) { return distance(n, k) <= allowed(k) }
    function cell(n, k) { return agrees(n, k) ? n : n " (off by " distance(n, k) ")" }
    END {
        why["array_walk"] = "ptxas keeps the halves of the pointers that walk in registers apart from each other and copies them into a pair for each access"
        why["lud_diagonal"] = "its last block: ptxas stores values as they come and reuses the registers of their addresses behind read barriers; the model loads all 16 and adds up their addresses first"
        for (i = 1; i <= kernels; i++) {
            k = order[i]
            all[set[k]]++
            good[set[k]] += agrees(model[k], k)
            plain[set[k]] += agrees(ours[k], k)
            off = model[k] - normal[k]
            apart[set[k]] += off < 0 ? -off : off
            if (set[k] == 1) rows = rows sprintf("| %s | %d | %d | %s | %d | %d | %s |\n", k, fewest[k], normal[k], cell(model[k], k), ours[k], peak[k], agrees(model[k], k) ? "" : why[k])
            else if (!agrees(model[k], k)) missed = missed sprintf("| %s | %d | %d | %s |\n", k, fewest[k], normal[k], cell(model[k], k))
        }
        printf "## Our kernels\n\n**%d of %d agree**, %d with the registers of PTX order; the mean distance from ptxas'"'"' own choice is %.1f registers.\n\n", good[1], all[1], plain[1], apart[1] / all[1]
        print "| kernel | fewest | default | model | PTX order | peak | why outside |\n|---|---|---|---|---|---|---|"
        printf "%s\n", rows
        print "## Kernels that were not looked at"
        print ""
        print "tests/minigpu/ptxas_unseen holds three sets of kernels, each written before anyone looked how the rules do on"
        print "it. After looking at the first two, rules were added that their machine code showed (a routine ends a block, a"
        print "widened value shares its register, values of vector stores stand side by side, packed bytes, constants late),"
        print "after the third one two (stores hold their operands, equal sums are computed once over blocks, the second of"
        print "them for hotspot). *First look* is before that."
        print ""
        print "| set | kernels | first look | now | PTX order |\n|---|---|---|---|---|"
        split("unseen,unseen_2,unseen_3", name, ",")
        split("20,14,14", first, ",")
        for (n = 2; n <= 4; n++) {
            printf "| %s | %d | %d | %d | %d |\n", name[n - 1], all[n], first[n - 1], good[n], plain[n]
            sum += all[n]; sum_first += first[n - 1]; sum_good += good[n]; sum_plain += plain[n]
        }
        printf "| together | %d | %d (%.0f%%) | %d (%.0f%%) | %d |\n\n", sum, sum_first, 100 * sum_first / sum, sum_good, 100 * sum_good / sum, sum_plain
        print "Some of what the first table shows is that machine code was read. The rules of loops and calls came later,"
        print "from the kernels of the next section. Those that do not agree now:"
        print ""
        print "| kernel | fewest | default | model |\n|---|---|---|---|"
        printf "%s", missed
        print ""
        print "## Public programs"
        print ""
        print "A larger check takes public programs: the samples of CUDA (compiled for sm_80, translated by ptxas for sm_75)"
        print "and 306 files of HeCBench, revision f27000a (compiled for compute_75), those whose PTX has less than 700 KB. A"
        print "file of the samples or a program of HeCBench was kept aside when the MD5 of its name began with an odd digit,"
        print "before any rule was touched. Rules were then made with the other half alone: nobody looked at a kernel of the"
        print "half kept aside, only at its totals, for the rules as they had been and at three stages of the new ones."
        print "Kernels with the same body count once. The programs are not part of this project."
        print ""
        print "| kernels | half looked at | rules before | now | half kept aside | rules before | now |"
        print "|---|---|---|---|---|---|---|"
        print "| up to 16 registers | 198 | 161 (81%) | 168 (85%) | 156 | 132 (85%) | 134 (86%) |"
        print "| 17 to 32 | 218 | 113 (52%) | 143 (66%) | 155 | 89 (57%) | 90 (58%) |"
        print "| 33 to 64 | 137 | 119 (87%) | 123 (90%) | 192 | 140 (73%) | 135 (70%) |"
        print "| above 64 | 14 | 13 (93%) | 13 (93%) | 18 | 13 (72%) | 13 (72%) |"
        print "| all | 567 | 406 (72%) | 447 (79%) | 521 | 374 (72%) | 372 (71%) |"
        print ""
        print "So the new rules bring seven points where they were made, and nothing on kernels that were kept aside: the goal"
        print "of 85% is missed by 14 points. Of the 149 kernels kept aside that do not agree, the model gives 121 more"
        print "registers than ptxas and 28 fewer, where the rules before gave 110 and 37. Too few became rarer: loops, calls"
        print "and divisions were the reason. Too many became more: what is missing is a schedule that minds registers before"
        print "64 are taken, as that of ptxas does, above all in loops that are unrolled."
    }' examples/minigpu/kernels/ptxas_registers.csv tests/minigpu/ptxas_unseen/unseen.csv tests/minigpu/ptxas_unseen/unseen_2.csv tests/minigpu/ptxas_unseen/unseen_3.csv "$counts" >>docs/registers.md
