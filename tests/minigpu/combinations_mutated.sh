#!/bin/sh
# combinations_mutated.sh SOURCE_DIR CORE COMPILER LIBRARY...: do the cells of docs/combinations.md see that a part hears no more of an
# event? FILES=PATTERN in the environment: only mutants of files that match, such as FILES=restart.
#
# Parts know each other by events alone (state/part.h). Each mutant takes one hook out of a part's table. Its file is compiled again and
# linked with CORE (libminigpu_core.a). tests/minigpu/combinations.sh then judges one cell with the page's own table of mechanisms: the
# result must be right, and each mechanism of the cell must have acted. Without the mutation the cell is right.
#
# Each line of the table has the mutant, what becomes of it, and a cell: its launch file below tests/minigpu/combinations and its options.
#   red    the cell is not what the page says
#   time   the cell is right in other cycles: the hook decides when something happens, and results do not depend on that
#   same   the cell is right in the same cycles: the hook does nothing that another one has not done
# A mutant that does otherwise fails the test. docs/combinations.md has the reasons for "time" and "same".
set -u
. "$(dirname "$0")/own.sh"
mkdir -p "$work/page/docs" && ln -s "$source/tests" "$source/examples" "$work/page/" || exit 2
judge() { # judge LAUNCH OPTIONS: the cell is what the page says, by the mini-GPU as it is linked
    { sed -n '/^| mechanism/,/^$/p' "$source/docs/combinations.md"
      printf '| `tests/minigpu/combinations/%s.yaml` | - |\n|---|---|\n| `%s` | right |\n' "$1" "$2"; } >"$work/page/docs/combinations.md"
    sh "$source/tests/minigpu/combinations.sh" "$work/minigpu" "$work/page" >"$work/out" 2>&1
    grep -q '^1 cells, 0 of them' "$work/out"
}
cycles() { # cycles LAUNCH OPTIONS
    # shellcheck disable=SC2086
    (cd "$source" && "$work/minigpu" run "tests/minigpu/combinations/$1.yaml" $2 2>/dev/null) | sed -n 's/^\([0-9]*\) cycles .*/\1/p'
}
table() { sed -n '/^: <</,/^TABLE/p' "$0" | grep '^[a-z]'; }
own_compile "$root/tools/main.c" "$work/main.c.o" -w && own_link main.c || exit 2
mutants=0 bad=0
while read -r says file hook launch options; do
    case $file in *${FILES:-}*) ;; *) continue ;; esac
    judge "$launch" "$options" || { echo "wrong without a mutation: $launch $options"; cat "$work/out"; bad=$((bad + 1)); }
    cycles "$launch" "$options" >>"$work/cycles"
done <<END
$(table)
END
[ $bad -eq 0 ] || exit 1
while read -r says file hook launch options; do
    case $file in *${FILES:-}*) ;; *) continue ;; esac
    mutants=$((mutants + 1)) unit=$(basename "$file")
    sed "s/\.$hook = [a-z_]*,//" "$root/$file" >"$work/$unit"
    if cmp -s "$root/$file" "$work/$unit"; then
        echo "$file has no hook $hook"
        bad=$((bad + 1))
        continue
    fi
    own_compile "$work/$unit" "$work/$unit.o" -w -I"$root/$(dirname "$file")" -I"$source/examples/policies" && own_link main.c "$unit" || exit 2
    if ! judge "$launch" "$options"; then is=red
    elif [ "$(cycles "$launch" "$options")" = "$(sed -n "${mutants}p" "$work/cycles")" ]; then is=same
    else is=time
    fi
    echo "$is: $file without $hook, $launch $options: $(grep -v '^1 cells' "$work/out" | cut -c1-100 | tail -1)"
    [ $is = "$says" ] || { echo "  the table says \"$says\""; bad=$((bad + 1)); }
done <<END
$(table)
END
echo "$mutants mutants, $bad of them not as the table says"
[ $bad -eq 0 ] && [ $mutants -gt 0 ]
exit

: <<TABLE
red parts/faults/fault_part.c block_stops three --schedule time_slice --slice 8 --leave switch --faults queue --link nvlink --absent all
red parts/faults/fault_part.c warp_came two --victims switch --faults queue --link nvlink
time parts/faults/fault_part.c sm_is_taken two --schedule ppq --faults log8 --link nvlink
red parts/restart/rewind.c block_rewinds two --leave rewind --regions sparse --context live --faults queue --link nvlink
red parts/restart/rewind.c warp_came two --leave rewind --regions sparse --context live
time parts/restart/rewind.c put_sections two --victims switch --regions sparse --detection razor2 --errors 0.001
same parts/errors/errors.c warp_came three --schedule time_slice --slice 8 --leave switch --detection razor2 --errors 0.001
red parts/errors/errors.c warp_squashed two --leave rewind --regions sparse --detection razor2 --errors 0.001
red parts/errors/errors.c has_struck fills --regions sparse:saved --detection razor2 --errors 0.01
red parts/page_checks/page_faults.c check_fails two --victims switch --page-checks kim --absent all
red parts/page_checks/page_faults.c handler_is_called two --schedule ppq --page-checks kim --absent all
red parts/fault_switch/fault_exchange.c block_left two --faults log16 --link nvlink --switch-on-fault 4 --partition even
red parts/fault_switch/fault_exchange.c before_placing two --faults log16 --link nvlink --switch-on-fault 4 --victims chimera
red parts/schedule/preemption_schedule.c makes_room two --schedule ppq --in-place
red parts/schedule/preemption_schedule.c block_left two --schedule ppq --faults log16 --link nvlink --absent all
time parts/corun/corun_group.c makes_room two --partition even --victims chimera
TABLE
