#!/bin/sh
# Writes docs/registers.md: register counts of our kernels beside those of ptxas. Usage: sh docs/registers.sh BUILD-FOLDER
set -eu
build=${1:?usage: sh docs/registers.sh BUILD-FOLDER}
cd "$(dirname "$0")/.."
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
counts=$(mktemp)
trap 'rm -f "$counts"' EXIT
"$build/examples/minigpu/minigpu" analyze --survey examples/minigpu/kernels --csv >"$counts"
awk -F, -v csv=examples/minigpu/kernels/ptxas_registers.csv '
    FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    FILENAME == csv { normal[$column["kernel"]] = $column["registers_default"]; fewest[$column["kernel"]] = $column["registers_fewest"]
                      plain[$column["kernel"]] = $column["registers_unscheduled"]
                      order[++kernels] = $column["kernel"]; next }
    { ours[$column["kernel"]] = $column["registers"]; early[$column["kernel"]] = $column["registers_early_loads"]
      peak[$column["kernel"]] = $column["live_peak"] }
    function distance(n, k) { return n < fewest[k] ? fewest[k] - n : n > normal[k] ? n - normal[k] : 0 }
    function allowed(k) { return normal[k] * 0.15 > 2 ? normal[k] * 0.15 : 2 }
    function cell(n, k) { return distance(n, k) > allowed(k) ? n " (off by " distance(n, k) ")" : n }
    END {
        print "# Registers per thread: gpump and ptxas"
        print ""
        print "Made by `sh docs/registers.sh build`; ptxas_registers.csv in examples/minigpu/kernels comes from `ptxas -v` and `ptxas -v -maxrregcount`"
        print "for sm_75, which takes no limit below 24. *Default* is what ptxas 13.0 chooses, *fewest* the least that it manages without more spilling,"
        print "*-O1* what it takes when it does not reorder instructions."
        print ""
        print "- **PTX order**: gpump_registers_allocate on the kernel as it stands, parameters read in place; the mini-GPU runs with these."
        print "- **early loads**: the same after `latency_schedule` has moved loads up within basic blocks (32 instructions at most), as ptxas does, plus 3:"
        print "  sm_75 counts two registers that no instruction names (the highest register in the machine code of saxpy is R7, the count is 10), and R1"
        print "  is always the stack pointer."
        print "- **peak**: most registers live at once in PTX order, parameters included."
        print ""
        print "A count agrees when its distance to the nearest point of [fewest, default] is at most max(2, 15% of default); others say how far off they are."
        print ""
        print "| kernel | fewest | default | -O1 | PTX order | early loads | peak | why |"
        print "|---|---|---|---|---|---|---|---|"
        for (i = 1; i <= kernels; i++) {
            k = order[i]
            if (!(k in ours)) continue
            n = early[k] + 3
            why = ""
            if (distance(n, k) > allowed(k)) {
                if (n < fewest[k] && normal[k] <= 24) why = "ptxas has no reason to economise below 24"
                else if (n < fewest[k]) why = "ptxas overlaps more loads, across loop iterations too"
                else why = "sm_75 holds what all lanes share in uniform registers, which are not counted"
            }
            all++
            good += why == ""
            plain_good += distance(ours[k], k) <= allowed(k)
            if (normal[k] > 24) { large++; large_good += why == "" }
            printf "| %s | %d | %d | %d | %s | %s | %d | %s |\n", k, fewest[k], normal[k], plain[k], cell(ours[k], k), cell(n, k), peak[k], why
        }
        print ""
        print "On sm_75 an SM is full with 64 registers per thread, so ptxas spends what is free on having more loads in flight. Divisions, one instruction"
        print "here and a subroutine for ptxas, explain 0 to 4 registers: taking them out of the PTX lowers srad_1 to 20 and cfd_step_factor to 20."
        print ""
        printf "%d of %d kernels agree with early loads, %d in PTX order. Where ptxas uses more than 24 registers, so that its fewest can be measured,\n", good, all, plain_good
        printf "%d of %d agree. Below that floor the interval is the single number that ptxas happens to use.\n", large_good, large
    }' examples/minigpu/kernels/ptxas_registers.csv "$counts" >docs/registers.md
