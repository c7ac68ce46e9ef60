#!/bin/sh
# check_call_sites.sh TREE [TRACE-DRIVEN]: reads a GPGPU-Sim source tree, and Accel-Sim's folder gpu-simulator, and names the
# call sites of README.md that are missing in them or stand in the wrong order. Changes nothing. Exit status 0: all are there.
tree=${1:?usage: check_call_sites.sh GPGPU-SIM-TREE [FOLDER-gpu-simulator]} traces=${2:-}
[ -f "$tree/src/gpgpu-sim/shader.cc" ] || { echo "$tree has no src/gpgpu-sim/shader.cc: is it a GPGPU-Sim source tree?" >&2; exit 2; }
[ -z "$traces" ] || [ -f "$traces/trace-driven/trace_driven.cc" ] ||
    { echo "$traces has no trace-driven/trace_driven.cc: is it Accel-Sim's folder gpu-simulator?" >&2; exit 2; }

# file | function or class | what must be there (!: must not) | behind the first of this in the function | before the last of this
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
# The same for the trace mode; a file of Accel-Sim begins with a colon.
trace_sites='
src/gpgpu-sim/shader.h | class shd_warp_t | friend class gpump_gpgpusim_traces< | |
src/gpgpu-sim/gpu-sim.cc | gpgpu_sim::launch | named( | | launched(
:trace-driven/trace_driven.h | class trace_shd_warp_t | friend class gpump_gpgpusim_traces< | |
:trace-driven/trace_driven.h | class trace_shd_warp_t | get_pc() const | |
:trace-driven/trace_driven.h | class trace_kernel_info_t | traces_back; | |
:trace-driven/trace_driven.cc | trace_kernel_info_t::trace_kernel_info_t | stream = kernel_trace_info->cuda_stream_id | |
:trace-driven/trace_driven.cc | trace_kernel_info_t::get_next_threadblock_traces | gpump_gpgpusim_traces_back( | | m_parser->
:trace-driven/trace_driven.cc | trace_gpgpu_sim::createSIMTCluster | gpump_gpgpusim_traces< | | new trace_simt_core_cluster(
:accel-sim.h | void init | !window_size = concurrent_kernel_sm ? | |
:accel-sim.cc | accel_sim_framework::cleanup | k->was_launched() | !m_gpgpu_sim->active() | busy_streams
:main.cc | int main | report( | simulation_loop( | return
'
[ -z "$traces" ] || sites=$sites$trace_sites
echo "$sites" | awk -F ' *[|] *' -v tree="$tree" -v traces="$traces" '
function squeeze(text) { gsub(/[ \t]+/, " ", text); return text }
# The text of the first definition of `name`, a function or a class, in `file`: from the line that names it to the brace that closes it.
function body(file, name,    line, text, depth, inside, opened, i, c, at) {
    text = ""; depth = 0; inside = 0; opened = 0
    while ((getline line < file) > 0) {
        sub(/\/\/.*/, "", line)
        if (!inside) {
            at = index(line, name (name ~ /^class / ? " " : "("))
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
    if (sub(/^:/, "", file)) path = traces "/" file
    else path = tree "/" file
    must = substr(what, 1, 1) != "!"
    if (!must) what = substr(what, 2)
    call = what ~ /^(finished|tick|choose|take_back|placed|stopped|issued|ended|end_of_cycle|named)\($/ ? "gpump->" what : what
    text = body(path, name)
    at = index(text, call)
    place = " in " name " (" file ")"
    where = (behind != "" ? ", behind " behind : "") (before != "" ? ", before " before : "")
    kind = name ~ /^class / ? "" : "the function "
    if (text == "") { print "not found: " kind name " (" file "); this revision has another one"; bad++ }
    else if (!must && index(text, squeeze(what))) { print "still there: " what place "; README.md says why it must go"; bad++ }
    else if (!must) print "ok: " name " without " what
    else if (!at) { print "missing: " call place where; bad++ }
    else if (behind != "" && (index(text, behind) == 0 || index(text, behind) > at)) {
        print "wrong order: " call place " must stand behind " behind
        bad++
    }
    else if (before != "" && last(text, before) < at) { print "wrong order: " call place " must stand before " before; bad++ }
    else print "ok: " call place
}
END { if (bad) { print bad " call sites to mend"; exit 1 } print "all call sites are there" }'
