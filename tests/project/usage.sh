#!/bin/sh
# usage.sh SOURCE_DIR: scripts refuse arguments that they cannot use before they do anything: status 2, and a line that names the argument.
set -u
cd "$1" || exit 1
bad=0
refused() { # refused TEXT SCRIPT ARGUMENT...
    text=$1
    shift
    status=0
    said=$(timeout 60 sh "$@" 2>&1 </dev/null) || status=$?
    [ $status -eq 2 ] && echo "$said" | grep -qF -- "$text" && return
    echo "sh $*: status $status, and it says: $said"
    echo "(expected: $text)"
    bad=1
}
refused "there is no option --bogus" examples/demo.sh --bogus
refused "there is no option --bogus" tests/run.sh --full --bogus
refused "there is no option --fulll" tests/run.sh --fulll
refused "no stage is called nosuch" tests/project/weekly.sh nosuch
refused 'no stage is called nosuch' tests/project/weekly.sh long nosuch
refused 'nosuch.c: no such file' tests/mutate/run.sh nosuch.c
refused "want numbers, not 'x'" tests/mutate/run.sh --mutants x sm.c
refused "want numbers, not '-1'" tests/mutate/run.sh --seed -1 sm.c
refused 'usage' tests/minigpu/option_sets.sh
refused 'there is no program nosuch' tests/minigpu/option_sets.sh nosuch .
refused "not 'x'" tests/minigpu/option_sets.sh /bin/true . x
refused 'usage' tests/fuzz/fuzz.sh x
refused 'no option --nosuch' examples/playground/build.sh --nosuch
refused 'one folder, not 3' examples/playground/build.sh a b c
refused 'no option --nosuch' docs/site/build.sh --nosuch
refused 'usage' bench/threads.sh
refused 'there is no program nosuch' bench/threads.sh nosuch
refused 'there is no program nosuch' bench/instructions.sh nosuch
refused 'is it a GPGPU-Sim source tree' examples/gpgpusim/check_call_sites.sh /nosuch
refused 'are no numbers of blocks and steps' tests/gpgpusim/copies_trace.sh nowhere two
exit $bad
