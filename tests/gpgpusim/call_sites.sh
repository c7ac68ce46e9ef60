#!/bin/sh
# call_sites.sh SOURCE WORK: examples/gpgpusim/check_call_sites.sh on trees of skeletons that are right, then with each call
# site taken out, and with some moved: every mistake must be named.
set -eu
check=$1/examples/gpgpusim/check_call_sites.sh
work=$2
rm -rf "$work"
mkdir -p "$work/tree/src/gpgpu-sim" "$work/tree/src/cuda-sim" "$work/traces/trace-driven"
cat >"$work/tree/src/abstract_hardware_model.h" <<'END'
class kernel_info_t {
  bool done() const { return no_more_ctas_to_run(); }
  bool no_more_ctas_to_run() const {
    if (blocks_away) return false;
    return m_next_cta > m_last;
  }
};
END
cat >"$work/tree/src/gpgpu-sim/gpu-sim.cc" <<'END'
void gpgpu_sim::launch(kernel_info_t *kinfo) {
  m_running_kernels[n] = kinfo;
  gpump_gpgpusim_launch launch = {kinfo, gpump->named(kinfo->name())};
  gpump->launched(launch);
}
void gpgpu_sim::set_kernel_done(kernel_info_t *kernel) {
  m_finished_kernel.push_back(uid);
  gpump->finished(kernel);
}
kernel_info_t *gpgpu_sim::select_kernel() {
  return 0;
}
void shader_core_ctx::issue_block2core(kernel_info_t &kernel) {
  if (m_gpu->gpump->take_back(m_sid, &kernel)) return;
  kernel.inc_running();
  init_warps(slot);
  m_gpu->gpump->placed(m_sid, slot, &kernel, index);
}
void gpgpu_sim::cycle() {
  cluster->core_cycle();
  gpump->tick(now);
  issue_block2core();
}
END
cat >"$work/tree/src/gpgpu-sim/shader.h" <<'END'
class shd_warp_t;
class shd_warp_t {
  friend class gpump_gpgpusim_traces<traces>;
};
END
cat >"$work/tree/src/gpgpu-sim/shader.cc" <<'END'
unsigned simt_core_cluster::issue_block2core() {
  kernel = m_gpu->select_kernel();
  kernel = m_gpu->gpump->choose(sid, kernel);
  if (m_gpu->kernel_more_cta_left(kernel)) return 1;
}
void scheduler_unit::cycle() {
  order_warps();
  if (gpu->gpump->stopped(sid, slot)) return;
  warp.ibuffer_next_inst();
}
void shader_core_ctx::issue_warp(register_set &pipe,
                                 int more) {
  func_exec_inst(inst);
  m_gpu->gpump->issued(m_sid, slot, inst);
  m_scoreboard->reserveRegisters(inst);
}
void shader_core_ctx::register_cta_thread_exit(unsigned slot) {
  m_gpu->set_kernel_done(kernel);
  m_gpu->gpump->ended(m_sid, slot);
}
void shader_core_ctx::cycle() {
  fetch();
  m_gpu->gpump->end_of_cycle(m_sid);
}
END
cat >"$work/tree/src/stream_manager.cc" <<'END'
bool stream_operation::do_operation(gpgpu_sim *gpu) {
  m_kernel->stream = m_stream->get_uid();
  gpu->launch(m_kernel);
}
END
cat >"$work/tree/src/cuda-sim/cuda-sim.cc" <<'END'
void erase_slot(gpgpu_t *gpu, unsigned sm, unsigned slot, unsigned first_thread, unsigned threads) {
  shared_memory_lookup.erase(index);
  sstarr_memory_lookup.erase(index);
  ptx_cta_lookup.erase(index);
  gpu->g_ptx_cta_info_sm_idx_used.erase(index);
  while (threads--) local_memory_lookup[sm].erase(first_thread + threads);
}
unsigned ptx_sim_init_thread(kernel_info_t &kernel) {
  return 0;
}
END
cat >"$work/traces/trace-driven/trace_driven.h" <<'END'
class trace_kernel_info_t : public kernel_info_t {
  std::vector<std::vector<inst_trace_t>> traces_back;
  friend class trace_shd_warp_t;
};
class trace_shd_warp_t : public shd_warp_t {
  friend class gpump_gpgpusim_traces<traces>;
  virtual address_type get_pc() const;
};
END
cat >"$work/traces/trace-driven/trace_driven.cc" <<'END'
trace_kernel_info_t::trace_kernel_info_t(kernel_trace_t *kernel_trace_info)
    : kernel_info_t(kernel_trace_info->cuda_stream_id) {
  stream = kernel_trace_info->cuda_stream_id;
}
void trace_kernel_info_t::get_next_threadblock_traces(std::vector<trace *> threadblock_traces) {
  if (gpump_gpgpusim_traces_back(traces_back, threadblock_traces)) return;
  m_parser->get_next_threadblock_traces(threadblock_traces);
}
void trace_gpgpu_sim::createSIMTCluster() {
  gpump = make(this, new gpump_gpgpusim_traces<traces>(this));
  m_cluster[i] = new trace_simt_core_cluster(this, i);
}
END
cat >"$work/traces/accel-sim.h" <<'END'
class accel_sim_framework {
  void init() {
    window_size = concurrent_kernel_sm || getenv("GPUMP")
                      ? get_max_concurrent_kernel() : 1;
  }
};
END
cat >"$work/traces/accel-sim.cc" <<'END'
void accel_sim_framework::cleanup(unsigned finished_kernel) {
  if (m_gpgpu_sim->cycle_insn_cta_max_hit() || (!m_gpgpu_sim->active() && k->was_launched())) busy_streams.erase(l);
}
END
cat >"$work/traces/main.cc" <<'END'
int main(int argc, const char **argv) {
  accel_sim.simulation_loop();
  accel_sim.report();
  return 0;
}
END
for arguments in "$work/tree" "$work/tree $work/traces"; do
    sh "$check" $arguments >"$work/right" || { cat "$work/right"; exit 1; }
done
refused() { # refused WHAT PATTERN [TRACES]: the broken tree is refused, and the message names the place
    if sh "$check" "$work/broken" ${3:-} >"$work/said"; then echo "$1 was not noticed"; exit 1; fi
    grep -q "$2" "$work/said" || { echo "$1: no message matches \"$2\""; cat "$work/said"; exit 1; }
}
broken() { rm -rf "$work/broken"; cp -r "$work/tree" "$work/broken"; }
refused_traces() { # refused_traces FILE EDIT PATTERN: so is a tree with this edit in a file for the trace mode
    broken
    cp -r "$work/traces" "$work/broken/traces"
    sed -i "$2" "$work/broken/$1"
    refused "$1: $2" "$3" "$work/broken/traces"
}
for call in launched finished tick choose take_back placed stopped issued ended end_of_cycle; do
    broken
    for file in "$work"/broken/src/gpgpu-sim/*.cc; do grep -v "gpump->$call(" "$file" >"$work/part" || :; cp "$work/part" "$file"; done
    refused "$call taken out" "^missing: .*$call("
done
broken
sed -i '/blocks_away/d' "$work/broken/src/abstract_hardware_model.h"
refused "the counter taken out" "^missing: blocks_away"
broken
sed -i '/sm_idx_used/d' "$work/broken/src/cuda-sim/cuda-sim.cc"
refused "the index of a slot left in the set" "^missing: g_ptx_cta_info_sm_idx_used.erase("
broken
sed -i '/get_uid/d' "$work/broken/src/stream_manager.cc"
refused "the stream of a kernel taken out" "^missing: ->stream = m_stream->get_uid()"
broken
sed -i '/tick/d; s/^  cluster->core_cycle();/  gpump->tick(now);\n&/' "$work/broken/src/gpgpu-sim/gpu-sim.cc"
refused "tick moved" "^wrong order: gpump->tick("
broken
sed -i '/end_of_cycle/d; s/^  fetch();/  m_gpu->gpump->end_of_cycle(m_sid);\n&/' "$work/broken/src/gpgpu-sim/shader.cc"
refused "end_of_cycle moved" "^wrong order: gpump->end_of_cycle("
broken
sed -i '/stopped/d; s/^  warp.ibuffer_next_inst();/&\n  if (gpu->gpump->stopped(sid, slot)) return;/' "$work/broken/src/gpgpu-sim/shader.cc"
refused "stopped moved" "^wrong order: gpump->stopped("
broken
sed -i 's/^  return 0;/  assert(0);/' "$work/broken/src/gpgpu-sim/gpu-sim.cc"
refused "the assertion" "^still there: assert("
broken
sed -i 's/^  m_gpu->gpump->issued/  \/\/ &/' "$work/broken/src/gpgpu-sim/shader.cc"
refused "a call that is only a comment" "^missing: gpump->issued("
driven=traces/trace-driven/trace_driven
refused_traces src/gpgpu-sim/shader.h /friend/d "^missing: friend class gpump_gpgpusim_traces< in class shd_warp_t"
refused_traces src/gpgpu-sim/gpu-sim.cc "s/gpump->named/name/" "^missing: gpump->named("
refused_traces $driven.h "/friend class gpump/d" "^missing: friend class gpump_gpgpusim_traces< in class trace_shd_warp_t"
refused_traces $driven.h "s/ const;/;/" "^missing: get_pc() const"
refused_traces $driven.h /traces_back/d "^missing: traces_back"
refused_traces $driven.cc "/^  stream = /d" "^missing: stream = kernel_trace_info->cuda_stream_id"
refused_traces $driven.cc /traces_back/d "^missing: gpump_gpgpusim_traces_back("
refused_traces $driven.cc "/traces_back/{h;d};/m_parser/G" "^wrong order: gpump_gpgpusim_traces_back("
refused_traces $driven.cc /gpump_gpgpusim_traces\</d "^missing: gpump_gpgpusim_traces<"
refused_traces traces/accel-sim.h "s/ || getenv.*//" "^still there: window_size"
refused_traces traces/accel-sim.cc "s/ \&\& k->was_launched()//" "^missing: k->was_launched()"
refused_traces traces/main.cc /report/d "^missing: report("
broken
if sh "$check" "$work/broken" "$work/broken" 2>"$work/said"; then echo "a folder without the trace mode was accepted"; exit 1; fi
grep -q "is it Accel-Sim's folder gpu-simulator" "$work/said"
rm -rf "$work/broken/src/gpgpu-sim"
if sh "$check" "$work/broken" 2>"$work/said"; then echo "a folder that is no tree was accepted"; exit 1; fi
grep -q "is it a GPGPU-Sim source tree" "$work/said"
echo "every missing or misplaced call site is named"
