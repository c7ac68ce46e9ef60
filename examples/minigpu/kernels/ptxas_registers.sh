#!/bin/sh
# sh ptxas_registers.sh PTX-FILE...: registers per thread by ptxas for sm_75, as CSV: its own choice, the fewest without more spilling
# (-maxrregcount from 24 up, which is as low as it goes), and what it uses when it leaves the order of instructions alone (-O1).
set -eu
ptxas=${PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
usage() { # PTX-FILE [OPTION]: prints "kernel registers spilled-bytes" per kernel
    "$ptxas" -arch=sm_75 -v ${2:-} -o /dev/null "$1" 2>&1 | awk '
        /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
        /bytes spill stores/ { for (i = 1; i <= NF; i++) if ($i == "spill" && $(i + 1) ~ /^stores/) spill = $(i - 2) }
        /Used [0-9]+ registers/ { for (i = 1; i <= NF; i++) if ($i == "Used") print kernel, $(i + 1), spill + 0 }'
}
echo "kernel,registers_default,registers_fewest,registers_unscheduled,spilled_default_b,spilled_below_fewest_b"
for file in "$@"; do
    usage "$file" | while read -r kernel registers spilled; do
        fewest=$registers
        worse=-
        limit=$((registers > 24 ? registers - 1 : 24))
        while [ $limit -ge 24 ]; do
            set -- $(usage "$file" -maxrregcount=$limit | grep "^$kernel ")
            if [ "$3" -gt "$spilled" ]; then worse=$3; break; fi
            [ "$2" -lt $fewest ] && fewest=$2
            limit=$((limit - 1))
        done
        set -- $(usage "$file" -O1 | grep "^$kernel ")
        echo "$kernel,$registers,$fewest,$2,$spilled,$worse"
    done
done
