# build/bench/stop_or_run > stop_or_run.csv; gnuplot docs/pictures/stop_or_run.gnuplot > docs/pictures/stop_or_run.svg
set terminal svg size 760,320 font "sans-serif,11" background "white"
set datafile separator ","
set multiplot layout 1,2
set logscale x
set xtics (20, 50, 100, 200, 500, 1000)
set xlabel "K, instructions between preemption points outside loops"
set yrange [0:60]
set key bottom right
only(name) = sprintf("< awk -F, '$2 == \"%s\"' stop_or_run.csv", name)
set ylabel "latency, % of saving everything occupied"
plot for [s in "stop point choose"] only(s) using 1:6 with linespoints linewidth 2 title s
set ylabel "bytes, % of saving everything occupied"
plot for [s in "stop point choose"] only(s) using 1:8 with linespoints linewidth 2 title s
