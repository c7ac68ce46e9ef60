# build/bench/everything_at_once > docs/pictures/everything_at_once.csv
# sh docs/pictures/pages.sh BUILD_DIR draws everything_at_once.svg from that file, with this script.
set terminal svg size 900,330 font "sans-serif,11" background "white"
set datafile separator ","
set multiplot layout 1,3
set logscale xy
set format x "10^{%T}"
set xlabel "errors per warp instruction"
set ylabel "cycles, times the undisturbed kernel"
set yrange [1:15]
set ytics (1, 2, 3, 5, 10, 15)
set key top left
only(kernel, name) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 + 0 > 0 && $5' docs/pictures/everything_at_once.csv", kernel, name)
do for [kernel in "sgemm hotspot spmv"] {
  set title kernel
  plot for [name in "'restart' 'replay queue' 'checkpoint' 'flush'"] only(kernel, name) using 3:5 with linespoints linewidth 2 title name
}
