#!/bin/sh
# The pictures of pages in README.md and docs/: pages.sh BUILD_DIR [check | pages FOLDER]
# Runs each command of the list below and takes a picture of the page it writes, in a headless Chromium. What a picture shows is noted
# in pages.txt, as a checksum of the recorded run and of the drawing code; `check` runs the commands again and compares these. Where the
# browser and the font are those that made the pictures, as the first line of pages.txt names them, it also takes each picture again and
# compares it byte for byte. docs/pictures/new_machines.svg is drawn from the table before it in docs/new_machines.md, and
# docs/pictures/stop_or_run.svg, sharing.svg, everything_at_once.svg and serving.svg from the CSV files beside them;
# docs/traces.md says from which traces, which the project does not have, traces.svg is drawn. `pages` only writes the pages, into FOLDER. Exit status: 0 done, or current; 1 a picture is out of date; 2 something
# is missing.
set -u
build=$(cd "$1" && pwd) || exit 2
folder=${3:-}
[ -z "$folder" ] || folder=$(cd "$folder" && pwd) || exit 2
cd "$(dirname "$0")/../.." || exit 2
minigpu=$build/examples/minigpu/minigpu tbsim=$build/examples/tbsim/tbsim
demo=examples/minigpu/demo.yaml figure=examples/tbsim/workloads/figure_5_1.yaml
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mode=${2:-make} status=0
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
maker="# taken by $("${browser:-false}" --version 2>/dev/null | sed 's/ *$//'), $(fc-match sans-serif 2>/dev/null)"
pictures=docs/pictures # where they are written
if [ "$mode" = check ]; then
    pictures=$work
    grep -qxF "$maker" docs/pictures/pages.txt || browser=
    [ -n "$browser" ] || echo "no picture is taken again: another browser or font made them"
elif [ -z "$browser" ]; then
    echo "Pictures are taken by Chromium: apt-get install chromium" >&2
    exit 2
fi
head -n 1 docs/pictures/pages.txt >"$work/pages.txt"
[ "$mode" = check ] || echo "$maker" >"$work/pages.txt"

browse() { # browse SIZE OPTION... ADDRESS
    size=$1
    shift
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --user-data-dir="$work/profile" --hide-scrollbars --force-device-scale-factor=1 \
        --window-size="$size" --virtual-time-budget=3000 "$@" 2>"$work/log" || { cat "$work/log"; exit 2; }
}

# picture NAME WIDTH VIEW COMMAND...: the command's page, opened at a view (goTo in examples/report/page.js). The picture is as high as
# the page; `check` takes the height from pages.txt.
picture() {
    name=$1 width=$2 view=$3
    shift 3
    "$@" --html "$work/$name.html" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    if [ "$mode" = pages ]; then
        mv "$work/$name.html" "$folder" || exit 1
        return 0
    fi
    run=$(sed -n '/^<script type="application\/json" id="data">$/,/^<\/script>$/p' "$work/$name.html" | grep -v '^{"about":' | cksum)
    page=$(cat examples/report/page.html examples/report/page.css examples/report/page.js | cksum)
    address="file://$work/$name.html#$view"
    if [ "$mode" = check ]; then
        size=$(sed -n "s/^$name.png \([0-9]*,[0-9]*\) .*/\1/p" docs/pictures/pages.txt)
    else
        size=$width,$(browse "$width,1000" --dump-dom "$address" | sed -n 's/.*data-height="\([0-9]*\)".*/\1/p' | head -n 1)
    fi
    echo "$name.png $size $view: run ${run% *}, drawn by ${page% *}" >>"$work/pages.txt"
    [ -n "$browser" ] || return 0
    browse "$size" --screenshot="$pictures/$name.png" "$address"
    cmp "$pictures/$name.png" "docs/pictures/$name.png" || status=1
}

picture demo 1240 "plain&rows=2&curves=0" "$minigpu" demo
picture lesson_drain 1100 "plain&from=12&to=24&rows=3" "$minigpu" run $demo --preempt 20000:drain
picture lesson_switch 1100 "plain&from=12&to=24&rows=3" "$minigpu" run $demo --preempt 20000:switch
picture lesson_flush 1100 "plain&from=12&to=24&rows=3" "$minigpu" run $demo --preempt 20000:flush
picture lesson_compress 1100 "plain&from=12&to=24&rows=3" "$minigpu" run $demo --preempt 20000:switch --context live+compress
picture lesson_choose 1100 "plain&from=12&to=24&rows=3" "$minigpu" run $demo --victims dual --deadline-us 2
picture lesson_share 1100 "plain&rows=2" "$minigpu" run examples/minigpu/launches/lesson_share.yaml --partition ccbp
picture lesson_faults 1100 "plain&from=5&to=17&rows=3" "$minigpu" run examples/minigpu/kernels/hotspot/launch.yaml --gpu table61 --faults queue --absent all --link nvlink --preempt 6000:switch
picture lesson_duet 1100 "plain&rows=2" "$minigpu" run examples/minigpu/kernels/histogram/launch.yaml --gpu maxwell_duet --duet=maxwell_duet:all
for policy in fcfs npq ppq; do
    picture figure_5_1_$policy 1100 "plain&rows=10" "$tbsim" run $figure --schedule $policy
done
# Tanasic Fig. 6.2: BFS, whose pages the CPU has at first.
picture figure_6_2 1100 "plain&rows=2" "$minigpu" run examples/minigpu/kernels/bfs_queue/measure.yaml --gpu table61 --faults log16 --link nvlink --absent all
# Its request, from near: K1 is saved, K3 set up.
picture figure_5_1_request 1100 "plain&from=158.5&to=173.5&rows=10" "$tbsim" run $figure --schedule ppq
[ "$mode" != pages ] || exit 0

sed '/(pictures\/new_machines.svg)/q' docs/new_machines.md >"$work/table.md" # other tables stand below it
"$tbsim" machines --table "$work/table.md" --svg "$pictures/new_machines.svg" || exit 2
cmp "$pictures/new_machines.svg" docs/pictures/new_machines.svg || status=1

# What gnuplot draws: its own words in a picture name the version that drew it.
gnuplot=$(command -v gnuplot)
version=$("${gnuplot:-false}" --version 2>/dev/null | tr a-z A-Z | sed 's/PATCHLEVEL/patchlevel/')
for name in sharing stop_or_run everything_at_once serving; do
    if [ "$mode" = check ] && ! grep -q "Produced by $version " docs/pictures/$name.svg; then
        echo "$name.svg is not drawn again: another gnuplot made it"
    elif [ -z "$gnuplot" ]; then
        echo "Curves are drawn by gnuplot: apt-get install gnuplot-nox" >&2
        exit 2
    else
        "$gnuplot" docs/pictures/$name.gnuplot >"$work/$name.svg" || exit 2
        [ "$mode" = check ] || cp "$work/$name.svg" "$pictures/$name.svg"
        cmp "$work/$name.svg" docs/pictures/$name.svg || status=1
    fi
done

if [ "$mode" = check ]; then
    diff docs/pictures/pages.txt "$work/pages.txt" || status=1
    for name in $(sed '/^#/d; s/ .*//' docs/pictures/pages.txt); do [ -s "docs/pictures/$name" ] || { echo "docs/pictures/$name is missing"; status=1; }; done
    [ $status -eq 0 ] && echo "the pictures are current" || echo "Make them again: sh docs/pictures/pages.sh BUILD_DIR"
else
    cp "$work/pages.txt" docs/pictures/pages.txt
fi
exit $status
