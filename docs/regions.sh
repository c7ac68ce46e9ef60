#!/bin/sh
# Writes docs/regions.md: idempotent regions per kernel, what cuts them, and what restarts miss. Takes some five minutes.
# Usage: sh docs/regions.sh BUILD-FOLDER
set -eu
build=${1:?usage: sh docs/regions.sh BUILD-FOLDER}
cd "$(dirname "$0")/.."
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
csv=$(mktemp)
trap 'rm -f "$csv" "$csv.removed" "$csv.hits" "$csv.restarts"' EXIT
"$build/bench/region_cuts" >"$csv"
"$build/tests/test_minigpu_boundaries_removed" 2>/dev/null | grep -v '^\[' >"$csv.removed"
"$build/tests/test_minigpu_restart" 2>/dev/null | grep -E '^[0-9]+ (restarts|warps|kernels)' >"$csv.restarts"
"$build/tests/test_program_regions" 2>/dev/null | grep -E '^[0-9]+ sets' >"$csv.hits"
{
awk -F, '
    NR == 1 { next }
    { way = $1; kernel = $2; value[way, kernel, "length"] = $3; value[way, kernel, "mean"] = $4; value[way, kernel, "live"] = $5
      for (i = 6; i <= 11; i++) value[way, kernel, i] = $i
      if (!(way in seen_way)) { seen_way[way] = 1; order_way[++ways] = way }
      if (!(kernel in seen) && kernel != "(all)") { seen[kernel] = 1; order[++kernels] = kernel } }
    function percent(x) { return sprintf("%+.1f", 100 * (x - 1)) }
    END {
        print "# Idempotent regions, kernel by kernel"
        print ""
        print "Made by `sh docs/regions.sh build` from `build/bench/region_cuts`: the kernels of examples/minigpu/kernels (but array_walk and pointer_chase) with the inputs of their launch.yaml"
        print "on igpu4, the machine of iGPU 5.1 (4 SMs, pipelines 8 wide, 256 KB of L1 each), sparse regions. *Length*: median warp instructions of a region"
        print "as it ran; *mean*: their mean. *Live*: median 32-bit registers live at the boundaries that were crossed. *Overhead*: cycles against the kernel without"
        print "regions, of boundaries and moves alone; with all live-ins stored and loaded again at every boundary (continuous spilling as the paper"
        print "has it, `--spilling all`); with only those stored that have changed since, and loaded only by who was taken off (`--spilling changed`). *Ideal*: median length"
        print "of regions that end only where this run overwrites what its warp has read, barriers and atomics ignored: no compiler can do with"
        print "fewer (but their median can be smaller, as sgemm shows). A kernel with 0 live registers is a single region."
        print ""
        print "| kernel | length | mean | live | moves alone, % | all stored, % | changed stored, % | ideal |"
        print "|---|---:|---:|---:|---:|---:|---:|---:|"
        order[++kernels] = "(all)"
        for (i = 1; i <= kernels; i++) {
            k = order[i]
            print "| " (k == "(all)" ? "**median; geometric mean**" : k) " | " value["all", k, "length"] " | " value["all", k, "mean"] " | " value["all", k, "live"] " | " percent(value["all", k, 9]) \
                " | " percent(value["all", k, 10]) " | " percent(value["all", k, 11]) " | " value["run", k, "length"] " |"
        }
        print ""
        print "## What cuts them"
        print ""
        print "The same kernels with one kind of cut left out, then with several (`gpump_regions_config.without`, `.unit`, `.may_clobber`); such regions are not safe to"
        print "go back in, and nobody does here. Medians over kernels of length, mean length and live registers, and geometric means of cycles."
        print ""
        print "| cuts | length | mean | live | moves alone, % | all stored, % | changed stored, % |"
        print "|---|---:|---:|---:|---:|---:|---:|"
        title["all"] = "all, as built"
        title["no-barriers"] = "none behind barriers"
        title["no-atomics"] = "none behind atomics, volatile accesses, fences"
        title["no-loops"] = "no second one on a way round a loop"
        title["no-divergence"] = "none where lanes wait"
        title["thread"] = "each thread by itself (and none where lanes wait)"
        title["exact-aliases"] = "accesses clobber only where they meet in this run"
        title["no-forced"] = "none behind barriers and atomics"
        title["paper"] = "the same, and each thread by itself: the text of the paper"
        title["paper-exact"] = "the same, and only where accesses meet in this run"
        title["run"] = "only where the run overwrites what its warp has read"
        title["run-thread"] = "only where a thread overwrites what it has read itself"
        for (i = 1; i <= ways; i++) {
            w = order_way[i]
            line = "| " title[w] " | " value[w, "(all)", "length"] " | " sprintf("%.0f", value[w, "(all)", "mean"]) " | "
            if (value[w, "(all)", 9] == "") line = line " | | | |"
            else line = line value[w, "(all)", "live"] " | " percent(value[w, "(all)", 9]) " | " percent(value[w, "(all)", 10]) " | " percent(value[w, "(all)", 11]) " |"
            print line
        }
        print ""
        print "Median length per kernel:"
        print ""
        head = "| kernel"; rule = "|---"
        for (i = 1; i <= ways; i++) { head = head " | " order_way[i]; rule = rule "|---:" }
        print head " |"
        print rule "|"
        for (i = 1; i < kernels; i++) {
            line = "| " order[i]
            for (n = 1; n <= ways; n++) line = line " | " value[order_way[n], order[i], "length"]
            print line " |"
        }
        for (i = 1; i < kernels; i++) {
            long_ideal += value["run", order[i], "length"] >= 200
            long_built += value["all", order[i], "length"] >= 200
            long_paper += value["paper-exact", order[i], "length"] >= 200
        }
        print ""
        printf "Of %d kernels, %d have a median of 200 instructions and more as built, %d as paper-exact, %d where only the run decides.\n", kernels - 1, long_built, long_paper, long_ideal
    }' "$csv"
cat <<'TEXT'

## Where this leaves the paper

iGPU reports regions of 200 to 3,500 instructions, 2 live registers at their starts, and 2.5 % overhead. Nothing here is tuned to come nearer.
What the tables say about the distance:

- **No single kind of cut is the reason.** Barriers, diverged lanes, accesses of other lanes and unknown aliases each cost something, and where one
  kind is left out the others mostly stand close by. Only without barriers and atomics, thread by thread and with aliases known exactly (*paper-exact*) do
  nw_1, nw_2 and stencil come into the range of the paper. The paper does not say what it does at barriers; going back past one arrives
  at it twice.
- **What lanes do for each other is the rest.** lud_diagonal runs 1,279 instructions before its warp overwrites anything that the warp has read from outside, but 80 before
  a thread overwrites what it has read itself from outside: what a lane reads, another has written before. Static analysis looks at one thread's writes to
  find that a read is protected, and at all lanes' to find that it is not.
- **Kernels that neither synchronise nor update in place are one region**, in the paper's range: cfd_compute_flux, kmeans_point, lbm, streamcluster.
- **Kernels of the paper's suite** (GPGPU-Sim 2.1's) among ours: bfs only, which here has regions of 7 to 12 instructions whatever is left out. The medians are those of two different suites.
- **The overhead follows the instructions**, as the paper says of its own: with all live-ins stored and loaded, kernels execute `instructions_all` of
  the CSV times as many, and take `cycles_all` times as long, nearly the same number. It is the number of boundaries times the live registers, not memory
  that is slow: L1 keeps what is stored to local memory, a warp's 32 words of a register are one line, and no boundary waits for a store to be acknowledged.
- **The reload is not needed** while nobody takes the warp off, since moves keep live-in registers as they were; and most live-ins have not changed since they
  were last stored. Without both, the overhead is a third. Just-in-time spilling costs boundaries and moves alone, until somebody preempts
  (`--preempt CYCLE:rewind`, [rewind.md](rewind.md)).
- Predicates that are live at a boundary are neither stored nor counted.
- When a warp is taken off while some of its lanes wait, continuous spilling has not stored their registers: who takes it off has to.

## Where cuts go

At the lowest loop depth, then outside of code in which a warp is diverged, then where few registers are live. Against the least possible (brute force, tests/program/regions.c):

TEXT
echo '```'
cat "$csv.hits"
echo '```'
cat <<'TEXT'

## What restarts find

tests/minigpu/restart.c goes back once from every instruction that any warp of any kernel executes, to the start of its region: sparse regions and short ones of 16, 32 and 64
instructions, registers enough and so few that kernels spill, and some kernels with one buffer for two parameters. With continuous spilling, of either kind, lanes that go
back have lost all their registers, which come from memory. Memory at the end is compared. On the mini-GPU half of all warps go back at thirty places of each run; `GPUMP_TEST_CASES=80 build/tests/test_minigpu_restart` takes
2,400 places, 700,000 warps sent back, in some ten seconds.

TEXT
echo '```'
cat "$csv.restarts"
echo '```'
cat <<'TEXT'

tests/minigpu/boundaries_removed.c takes away every boundary, alone, and every move, and asks three parties: the analysis (may something be overwritten now?), a watcher of a run
without restarts (is it, and with another value?), and restarts from everywhere. Restarts never miss what the watcher has nothing against. Where a value changes
they miss what was taken away, or prove, having gone back from every place of the run, that nothing comes of it with these inputs: bfs_2 clears a flag last, after all that
depends on it is done; a loop that runs once ends even if its counter is advanced twice.

TEXT
echo '```'
cat "$csv.removed"
echo '```'
cat <<'TEXT'

- *never reached*: no warp comes there with these inputs. *allowed by the analysis*: boundaries for lanes that wait, and eight of the hitting set that others make superfluous.
- *not overwritten in this run*: addresses that might be the same and are not.
- *a barrier passed twice, harmlessly*: the warp arrives once more at a barrier at which nobody misses it; that is luck of these inputs.
- A move taken away makes its two registers one. Where one of them is used for something else later on, that can only be played for some regions.
TEXT
} >docs/regions.md
