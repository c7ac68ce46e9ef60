# build/bench/stop_or_run > docs/pictures/stop_or_run.csv
# sh docs/pictures/pages.sh BUILD_DIR draws stop_or_run.svg from that file, with this script.
set terminal svg size 760,320 font "sans-serif,11" background "white"
set datafile separator ","
set multiplot layout 1,2
set logscale x
set xtics (20, 50, 100, 200, 500, 1000)
set xlabel "K, instructions between preemption points outside loops"
set yrange [0:*]
set key bottom right
only(name) = sprintf("< awk -F, '$2 == \"%s\"' docs/pictures/stop_or_run.csv", name)
set ylabel "latency, % of saving everything occupied"
plot for [s in "stop point choose"] only(s) using 1:6 with linespoints linewidth 2 title s
set ylabel "bytes, % of saving everything occupied"
plot for [s in "stop point choose"] only(s) using 1:8 with linespoints linewidth 2 title s
