#!/bin/sh
# check_call_sites.sh TREE: reads a GPGPU-Sim source tree and names the call sites of README.md that are missing in it or
# stand in the wrong order. Changes nothing. Exit status 0: all are there.
tree=${1:?usage: check_call_sites.sh GPGPU-SIM-TREE}
[ -f "$tree/src/gpgpu-sim/shader.cc" ] || { echo "$tree has no src/gpgpu-sim/shader.cc: is it a GPGPU-Sim source tree?" >&2; exit 2; }

# file | function | what must be there (!: must not) | behind the first of this in the function | before the last of this
sites='
src/abstract_hardware_model.h | bool no_more_ctas_to_run | blocks_away | | m_next_cta
src/gpgpu-sim/gpu-sim.cc | gpgpu_sim::launch | launched( | m_running_kernels[n] = |
src/gpgpu-sim/gpu-sim.cc | gpgpu_sim::set_kernel_done | finished( | m_finished_kernel.push_back |
src/gpgpu-sim/gpu-sim.cc | gpgpu_sim::select_kernel | !assert( | |
src/gpgpu-sim/gpu-sim.cc | gpgpu_sim::cycle | tick( | core_cycle( | issue_block2core(
src/gpgpu-sim/shader.cc | simt_core_cluster::issue_block2core | choose( | select_kernel( | kernel_more_cta_left(kernel)
src/gpgpu-sim/gpu-sim.cc | shader_core_ctx::issue_block2core | take_back( | | inc_running(
src/gpgpu-sim/gpu-sim.cc | shader_core_ctx::issue_block2core | placed( | init_warps( |
src/gpgpu-sim/shader.cc | scheduler_unit::cycle | stopped( | order_warps( | ibuffer_next_inst(
src/gpgpu-sim/shader.cc | shader_core_ctx::issue_warp | issued( | func_exec_inst( | reserveRegisters(
src/gpgpu-sim/shader.cc | shader_core_ctx::register_cta_thread_exit | ended( | set_kernel_done( |
src/gpgpu-sim/shader.cc | shader_core_ctx::cycle | end_of_cycle( | fetch( |
src/stream_manager.cc | stream_operation::do_operation | ->stream = m_stream->get_uid() | | gpu->launch(
src/cuda-sim/cuda-sim.cc | erase_slot | shared_memory_lookup.erase( | |
src/cuda-sim/cuda-sim.cc | erase_slot | sstarr_memory_lookup.erase( | |
src/cuda-sim/cuda-sim.cc | erase_slot | ptx_cta_lookup.erase( | |
src/cuda-sim/cuda-sim.cc | erase_slot | g_ptx_cta_info_sm_idx_used.erase( | |
src/cuda-sim/cuda-sim.cc | erase_slot | local_memory_lookup[ | |
src/cuda-sim/cuda-sim.cc | ptx_sim_init_thread | !> shared_memory_lookup; | |
'
echo "$sites" | awk -F ' *[|] *' -v tree="$tree" '
function squeeze(text) { gsub(/[ \t]+/, " ", text); return text }
# The text of the first definition of `name` in `file`: from the line that names it to the brace that closes it.
function body(file, name,    line, text, depth, inside, opened, i, c, at) {
    text = ""; depth = 0; inside = 0; opened = 0
    while ((getline line < file) > 0) {
        sub(/\/\/.*/, "", line)
        if (!inside) {
            at = index(line, name "(")
            if (!at || line ~ /^ *[a-z_]*(assert|if|return|while|for)/ || line ~ /^[^{]*;/) continue
            inside = 1
        }
        text = text " " line
        for (i = 1; i <= length(line); i++) {
            c = substr(line, i, 1)
            if (c == "{") { depth++; opened = 1 }
            if (c == "}") depth--
            if (!opened && c == ";") { inside = 0; text = ""; break }
        }
        if (opened && depth == 0) break
    }
    close(file)
    return squeeze(text)
}
function last(text, what,    at, found, rest) {
    found = 0; rest = text
    while ((at = index(rest, what)) > 0) { found += at; rest = substr(rest, at + 1) }
    return found
}
NF >= 4 {
    file = $1; name = $2; what = $3; behind = $4; before = $5
    must = substr(what, 1, 1) != "!"
    if (!must) what = substr(what, 2)
    call = what ~ /^[a-z_]*\($/ && must && what != "launched(" ? "gpump->" what : what
    text = body(tree "/" file, name)
    at = index(text, call)
    place = " in " name " (" file ")"
    where = (behind != "" ? ", behind " behind : "") (before != "" ? ", before " before : "")
    if (text == "") { print "not found: the function " name " (" file "); this revision has another one"; bad++ }
    else if (!must && index(text, squeeze(what))) { print "still there: " what place "; README.md says why it must go"; bad++ }
    else if (!must) print "ok: " name " without " what
    else if (!at) { print "missing: " call place where; bad++ }
    else if (behind != "" && (index(text, behind) == 0 || index(text, behind) > at)) { print "wrong order: " call place " must stand behind " behind; bad++ }
    else if (before != "" && last(text, before) < at) { print "wrong order: " call place " must stand before " before; bad++ }
    else print "ok: " call place
}
END { if (bad) { print bad " call sites to mend"; exit 1 } print "all call sites are there" }'
