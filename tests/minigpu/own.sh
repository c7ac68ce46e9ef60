# own.sh: for tests that build a mini-GPU with a file of their own, beside the objects of libminigpu_core.a as they are.
#
# A test reads it by `. "$(dirname "$0")/own.sh"`. The test's arguments are SOURCE_DIR CORE COMPILER LIBRARY..., where CORE is
# libminigpu_core.a and each LIBRARY one that the program is linked with. They become $source, $core, $compiler and $libraries; $root is
# the mini-GPU's folder, and $work a folder that goes with the test.
name=$(basename "$0")
fail() { echo "$name: $*" >&2; exit 1; }
[ $# -ge 4 ] || fail "usage: $name SOURCE_DIR libminigpu_core.a COMPILER LIBRARY..."
source=$(cd "$1" && pwd) core=$2 compiler=$3
shift 3
libraries=$*
root=$source/examples/minigpu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# own_compile FILE OBJECT OPTION...
own_compile() {
    own_file=$1 own_object=$2
    shift 2
    "$compiler" -std=gnu99 -O1 "$@" -I"$root" -I"$source" -I"$source/gpump_impl" -I"$source/examples" -I"$source/examples/options" \
        -I"$source/examples/report" -c "$own_file" -o "$own_object"
}
# own_link FILE...: $work/minigpu from $work/FILE.o of each FILE, main.c among them, and the core's other objects
own_link() {
    cp "$core" "$work/core.a" && chmod u+w "$work/core.a" || return 1
    own_objects=
    for own_file; do
        own_objects="$own_objects $work/$own_file.o"
        ! ar t "$core" | grep -qx "$own_file.o" || ar d "$work/core.a" "$own_file.o"
    done
    # shellcheck disable=SC2086  # lists of words
    "$compiler" $own_objects "$work/core.a" $libraries -o "$work/minigpu"
}
# own_build OPTIONS FILE...: compiles the files with the options, and main.c, and links $work/minigpu
own_build() {
    own_options=$1
    shift
    set -- "$root/tools/main.c" "$@"
    own_names=
    for own_source; do
        # shellcheck disable=SC2086
        own_compile "$own_source" "$work/$(basename "$own_source").o" $own_options || return 1
        own_names="$own_names $(basename "$own_source")"
    done
    # shellcheck disable=SC2086
    own_link $own_names
}
# own_differs CONFIG COUNT FILE OPTION...: the run is right with --config CONFIG=0 to COUNT - 1, and with the last of them takes other
# cycles than with each of the others
own_differs() {
    own_number=$1 own_last=$(($2 - 1)) own_taken=
    shift 2
    for own_value in $(seq 0 $own_last); do
        "$work/minigpu" run "$@" --config "$own_number=$own_value" >"$work/out" 2>&1 ||
            { cat "$work/out"; fail "run $* is wrong with $own_number=$own_value"; }
        own_cycles=$(sed -n 's/^\([0-9]*\) cycles .*/\1/p' "$work/out")
        case " $own_taken " in *" $own_cycles "*) [ "$own_value" -ne $own_last ] || fail "run $*: $own_cycles cycles, as one of $own_taken" ;; esac
        own_taken="$own_taken $own_cycles"
    done
}
