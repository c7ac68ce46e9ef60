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

The register counts of gpump agree with ptxas for four of five of our kernels, and for about eight of ten
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

Each rule was read off the machine code or the register counts of ptxas and holds for every kernel. One number
was fitted to kernels: how far instructions move (below).

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
Divisions and roots that are routines end a basic block. An instruction moves before at most 16 others. That
number stands for whatever keeps ptxas from starting more at once; of 12, 16, 24, 32 and no limit it did best
on the public kernels that were looked at.

Colouring (`examples/minigpu/analysis/sm75_registers.c`), in the order of the code, the lowest register that
is free:

- What an instruction behind a scoreboard reads (a load's address, a store's data) is not given out again
  before its result is waited for, a store's not before five further stores in the same block, since a warp
  has six scoreboards (twelve copies take 11 registers, as many as six); the result itself may take its place
  (`LDG.E R2, [R2.64]`).
- All registers that an instruction reads should not be in one of the two banks (even, odd), a pair counting
  as its even half: of 145 + 21 global stores with a 64-bit address in these kernels 145 have their data in an
  odd register. Banks are chosen first where an instruction reads two registers (floating point, minimum and
  maximum), for what has most partners before others: a sum has one bank, the loads that are added to it the
  other. n such loads take 4 + 2n registers, integer ones 6 + n, because ptxas adds three integers at a time.
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
        print "A larger check takes public programs: the samples of CUDA (compiled for sm_80, translated by ptxas for"
        print "sm_75) and programs of HeCBench, revision f27000a (compiled for compute_75), the first file of each that has"
        print "kernels, those whose PTX has less than 700 KB. A file of the samples or a program of HeCBench is kept aside"
        print "when the MD5 of its name begins with an odd digit. Kernels with the same body count once. The programs are"
        print "not part of this project."
        print ""
        print "The rules of loops, calls and divisions were made with the half looked at of a first set (306 files of"
        print "HeCBench, 1,088 kernels). On its half kept aside they brought nothing: 72% before and 71% with them (521"
        print "kernels), 121 of 149 disagreements being too high. The rules of banks, stores and look-ahead were made with"
        print "the half looked at of a second set (180 programs of HeCBench, in the order of the MD5 of their names, and"
        print "the samples). Its half kept aside was counted once, when they were final. (A program may have stood on the"
        print "other side in the first set.)"
        print ""
        print "| kernels | half looked at | rules before | now | half kept aside | rules before | now |"
        print "|---|---|---|---|---|---|---|"
        print "| up to 16 registers | 104 | 83 (80%) | 88 (85%) | 156 | 133 (85%) | 133 (85%) |"
        print "| 17 to 32 | 187 | 137 (73%) | 127 (68%) | 143 | 85 (59%) | 90 (63%) |"
        print "| 33 to 64 | 123 | 86 (70%) | 100 (81%) | 141 | 107 (76%) | 124 (88%) |"
        print "| above 64 | 16 | 13 (81%) | 13 (81%) | 18 | 14 (78%) | 15 (83%) |"
        print "| all | 430 | 319 (74%) | 328 (76%) | 458 | 339 (74%) | 362 (79%) |"
        print ""
        print "The goal of 85% is missed by six points. Of the 96 kernels kept aside that do not agree, 60 are too high and"
        print "36 too low (86 and 33 before). How much a better schedule could still bring: with the best of seven"
        print "schedules for each kernel, chosen with the count of ptxas in hand (look-ahead of 1, 4, 8, 16 and 32, none,"
        print "and the rules before), 392 of 458 agree, 86%. So a schedule alone hardly reaches the goal; selection and"
        print "unrolling are the rest. Of the half looked at, 39 kernels of 17 to 32 registers are copies of two reductions"
        print "of one sample, whose loop ptxas unrolls to keep 16 loads from shared memory in flight, where the model has"
        print "8."
        print ""
        print "What counts for a machine is how many warps fit on an SM. With the model'\''s counts of the kernels kept aside"
        print "it is the same number as with those of ptxas for 97% on sm_75 (1,024 threads per SM), with a mean ratio of"
        print "0.999, and for 77% where an SM has 2,048 threads, with a mean ratio of 1.04. 60% of the counts take as many"
        print "granules of eight registers as those of ptxas, 90% at most one more or less."
    }' examples/minigpu/kernels/ptxas_registers.csv tests/minigpu/ptxas_unseen/unseen.csv tests/minigpu/ptxas_unseen/unseen_2.csv tests/minigpu/ptxas_unseen/unseen_3.csv "$counts" >>docs/registers.md
