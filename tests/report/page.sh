#!/bin/sh
# Opens pages in a headless Chromium and uses them: page.sh MINIGPU TBSIM SOURCE_DIR WORK_DIR
# Exit status: 0 right, 1 wrong, 77 skipped: no Chromium.
set -u
minigpu=$1 tbsim=$2 source=$3 work=$4
browser=
for name in chromium chromium-browser google-chrome; do command -v $name >/dev/null 2>&1 && browser=$name && break; done
[ -n "$browser" ] || { echo "SKIPPED: there is no Chromium here (apt-get install chromium)"; exit 77; }
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 1
status=0

# open PAGE OPTION...: what the browser says on standard output goes to PAGE.out, its log to PAGE.log
open() {
    page=$1
    shift
    timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --disable-extensions --host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$work/profile" \
        --hide-scrollbars --force-device-scale-factor=1 --window-size=1500,1400 --virtual-time-budget=5000 --enable-logging=stderr --v=0 \
        "$@" "file://$work/$page" >"$page.out" 2>"$page.log"
    if grep CONSOLE "$page.log" | grep -vq willReadFrequently; then # that is about the test's own reading of pixels
        echo "WRONG: $page: the console says:" && grep CONSOLE "$page.log" | grep -v willReadFrequently | head -5
        status=1
    fi
}
# try_page PAGE SLICES: the page, with the test appended to it
try_page() {
    { cat "$1" && echo "<script>const EXPECTED = $2;</script><script>" && cat "$source/tests/report/page_test.js" && echo "</script>"; } >"tried_$1"
    open "tried_$1" --dump-dom
    sed -n '/<pre id="verdict">/,/<\/pre>/p' "tried_$1.out" >"$1.verdict"
    echo "==== $1" && cat "$1.verdict"
    grep -q '^all right$' "$1.verdict" || { echo "WRONG: $1" && status=1; }
}
slices() { cat "$@" | grep -c '"ph":"X"'; }

"$minigpu" demo --html demo.html --trace . >demo.txt || status=1
try_page demo.html "$(slices demo-drain.json demo-switch.json demo-flush.json)"
if [ -x "$tbsim" ]; then
    "$tbsim" run "$source/examples/tbsim/workloads/figure_5_1.yaml" --schedule ppq --html tbsim.html --trace tbsim.json >tbsim.txt || status=1
    try_page tbsim.html "$(slices tbsim.json)"
fi

# 100,000 slices: 1000 rows of 100 blocks each, most of them narrower than a pixel
awk 'BEGIN {
    printf "{\"about\":{\"title\":\"many\",\"record\":[[\"GPUMP_MODEL_VERSION\",0],[\"command\",\"\"],[\"launch file\",\"\"],[\"GPU\",\"\"]]},\"runs\":[{\"name\":\"many\",\"facts\":[],"
    printf "\"kernels\":[{\"name\":\"a\",\"process\":\"p\",\"colour\":0},{\"name\":\"b\",\"process\":\"q\",\"colour\":1}],\"groups\":[\"kernels\""
    for (g = 1; g <= 125; g++) printf ",\"SM %d\"", g
    printf "],\"requests\":[],\"victims\":[],\"marks\":[],\"series\":[],\"sample_cycles\":[],\"samples\":[],\"rows\":["
    for (r = 0; r < 1000; r++) {
        printf "%s{\"row\":%d,\"group\":%d,\"name\":\"slot %d\",\"spans\":[", r ? ",\n" : "", r, 1 + r / 8, r % 8
        for (i = 0; i < 100; i++) printf "%s%d,%d,1,%d,%d,0", i ? "," : "", i % 10 ? 0 : 2000, 1 + (i * 7 + r) % (i % 10 ? 20 : 5000), (i + r) % 2, i * 1000 + r
        printf "]}"
    }
    printf "],\"clock_khz\":1000000,\"begin\":0,\"end\":60000}]}"
}' >many.json
sed '/<script type="application\/json" id="data">/,/<\/script>/d' demo.html | awk -v data=many.json '/^<script>$/ && !done {
    print "<script type=\"application/json\" id=\"data\">"; while ((getline line < data) > 0) print line; print "</script>"; done = 1 } { print }' >many.html
try_page many.html 100000

# The picture of the demo differs from that of the same page without data where a block is being saved, and nowhere in the title.
awk '/<script type="application\/json" id="data">/ { print; skip = 1; next } /^<\/script>$/ && skip { skip = 0
    print "{\"about\":{\"title\":\"empty\",\"record\":[]},\"runs\":[]}" } !skip { print }' demo.html >empty.html
open demo.html --screenshot="$work/demo.png"
open empty.html --screenshot="$work/empty.png"
place=$(sed -n 's/^saved at //p' demo.html.verdict | tr ' ' ',')
[ -s demo.png ] && [ -s empty.png ] && [ -n "$place" ] || { echo "WRONG: no picture, or nothing is being saved" && status=1; }
{
    echo "<body><img src='data:image/png;base64,$(base64 -w0 demo.png)'><img src='data:image/png;base64,$(base64 -w0 empty.png)'>"
    echo "<script>const place = [$place];"
    cat <<'SCRIPT'
window.onload = () => {
  const [x, y, x1, y1] = place, [full, empty] = Array.from(document.images).map(i => {
    const c = document.createElement('canvas');
    c.width = i.width; c.height = i.height;
    const context = c.getContext('2d');
    context.drawImage(i, 0, 0);
    return context.getImageData(x + 1, y, x1 - x - 2, y1 - y).data;
  });
  let differ = 0, dark = 0, all = full.length / 4;
  for (let i = 0; i < full.length; i += 4) {
    if (Math.abs(full[i] - empty[i]) + Math.abs(full[i + 1] - empty[i + 1]) + Math.abs(full[i + 2] - empty[i + 2]) > 60) differ++;
    if (full[i] + full[i + 1] + full[i + 2] < 150) dark++;
  }
  document.body.textContent = 'where a block is saved, ' + differ + ' of ' + all + ' pixels differ from an empty page, ' + dark + ' are dark: ' +
    (all > 10 && differ > 0.9 * all && dark > 0.7 * all ? 'RIGHT' : 'WRONG');
};
</script>
SCRIPT
} >compare.html
open compare.html --dump-dom
sed -n 's/.*<body>\(where a block is saved.*\)<\/body>.*/\1/p' compare.html.out
grep -q ': RIGHT' compare.html.out || { echo "WRONG: the picture does not show the preemption" && status=1; }
# The same pages on a desk, on a phone, in the dark and on paper, by real input events.
if command -v python3 >/dev/null 2>&1; then
    timeout 300 python3 "$source/tests/report/screens.py" "$(command -v "$browser")" "$work/screens" "$work/demo.html" ${tbsim:+"$work/tbsim.html"} >screens.txt 2>&1
    cat screens.txt
    grep -q '^all right$' screens.txt || { echo "WRONG: screens.py" && status=1; }
else
    echo "not tried: there is no python3 to drive the browser with"
fi
exit $status
