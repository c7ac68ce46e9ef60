#!/bin/sh
# Prints docs/registers.md: registers per thread after gpump's allocation beside ptxas's (ptxas_registers.csv). From the project's
# root:  sh examples/minigpu/kernels/compare_registers.sh build/examples/minigpu/minigpu >docs/registers.md
set -eu
minigpu=$(realpath "${1:?where is minigpu?}")
cd "$(dirname "$0")"
cat <<'TEXT'
# Register counts beside ptxas

Registers per thread of the example kernels: after gpump's allocation (`minigpu analyze`; no limit, so nothing is spilled), and by ptxas
13.0 for sm_75: by default, the fewest without more spilling (`-maxrregcount`, which goes no lower than 24), and without reordering
(`-O1`). Printed by `examples/minigpu/kernels/compare_registers.sh`. *Distance* is to the nearest number from fewest to default; the aim
was at most 2 or 15% of the default, whichever is more.

gpump needs fewer nearly everywhere. On sm_75 an SM is full with 64 registers per thread, so ptxas has no reason to use fewer
and spends them on having more loads in flight; below 24 it cannot be made to save. gpump allocates in the order of the PTX, sets
constants again where they are used, and reads parameters from the constant bank. The kernels that need more than 24 and whose
number `-maxrregcount` lowers (cfd_compute_flux, lbm) end within one of gpump's. Divisions, which are one instruction
here and a subroutine for ptxas, explain 0 to 4 registers: taking them out of the PTX lowers srad_1 to 20, cfd_step_factor to 20,
and leaves lud_diagonal at 44.

| kernel | gpump | fewest | default | -O1 | distance | reason |
|---|---|---|---|---|---|---|
TEXT
inside=0
all=0
tail -n +2 ptxas_registers.csv | {
    while IFS=, read -r folder kernel default fewest unscheduled _; do
        ours=$("$minigpu" analyze "$folder/$folder.ptx" --kernel "$kernel" --csv | awk -F, '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i == "registers") column = i }
            NR == 2 { print $column }')
        distance=0
        [ "$ours" -lt "$fewest" ] && distance=$((fewest - ours))
        [ "$ours" -gt "$default" ] && distance=$((ours - default))
        allowed=$((default * 15 / 100))
        [ $allowed -lt 2 ] && allowed=2
        all=$((all + 1))
        if [ $distance -le $allowed ]; then
            inside=$((inside + 1))
            reason=
        elif [ $((unscheduled + 2)) -lt "$default" ]; then
            reason="ptxas reorders: more loads in flight, more values waiting"
        elif [ "$default" -le 24 ]; then
            reason="ptxas uses no more than 24 and cannot be made to use fewer"
        else
            reason="not found"
        fi
        echo "| $kernel | $ours | $fewest | $default | $unscheduled | $distance | $reason |"
    done
    echo
    echo "$inside of $all within the aim."
}
