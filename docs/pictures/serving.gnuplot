# build/bench/serving > docs/pictures/serving.csv makes the table.
# sh docs/pictures/pages.sh BUILD_DIR draws serving.svg from serving.csv, with this script.
set terminal svg size 1000,380 font "sans-serif,11" background "white"
set datafile separator ","
set linetype 1 lc rgb "#c0392b" pt 2
set linetype 2 lc rgb "#e08a3c" pt 1
set linetype 3 lc rgb "#3b6fb6" pt 4
set linetype 4 lc rgb "#2e8b57" pt 8
set linetype 5 lc rgb "#8e44ad" pt 6
set linetype 6 lc rgb "#7f7f7f" pt 3
array names[6] = ["prompt to its end", "level 1", "kernel to its end", "switch", "MIG 3g + 4g", "a GPU each"]
ways = "none level1 kernel switch spatial alone"
rows(i) = sprintf("<grep ^%s, docs/pictures/serving.csv", word(ways, i))
set multiplot layout 1,3
set xlabel "prompts per second"
set xrange [0:11]
set key top left
set title "between tokens, 99th percentile, ms"
set yrange [0:180]
plot for [i=1:6] rows(i) using 2:6 with linespoints lt i title names[i]
set title "first token, 99th percentile, ms"
set yrange [50:20000]
set logscale y
plot for [i=1:6] rows(i) using 2:4 with linespoints lt i notitle
set title "requests within 1 s and 50 ms, %"
unset logscale y
set yrange [0:105]
plot for [i=1:6] rows(i) using 2:(50 * ($7 + $8)) with linespoints lt i notitle
unset multiplot
