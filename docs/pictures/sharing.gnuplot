# Pair 1 of: build/examples/minigpu/minigpu pairs --pairs 18 --csv FILE; the bars in the order of HSpeedup.
# sh docs/pictures/pages.sh BUILD_DIR draws sharing.svg from sharing.csv, with this script.
set terminal svg size 760,350 font "sans-serif,11" background "white"
set datafile separator ","
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border lt -1
set boxwidth 0.9
set yrange [0:1.2]
set ylabel "speed, alone = 1"
set xlabel "blocks of BT + LAV on each SM" offset 0,-1
set bmargin 6
set key below
set xtics ("each alone\n9 or 8" 0, "even\n4 + 4" 1, "SMK\n4 + 4, quotas" 2, "WS\n7 + 2" 3, \
           "WS+Dai\n7 + 2, in flight" 4, "best blocks\n8 + 1" 5, "CCBP\n8 + 1, rates" 6)
plot "docs/pictures/sharing.csv" every ::1 using 11 title "BT (latency sensitive)" lc rgb "#3b6fb6", \
     "" every ::1 using 12 title "LAV (network intensive)" lc rgb "#e08a3c", \
     "" every ::1 using ($0):13 with points lc rgb "black" pt 7 title "HSpeedup"
