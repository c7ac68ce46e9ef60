#!/bin/sh
# call_sites.sh SOURCE WORK: examples/gpgpusim/check_call_sites.sh on a tree of skeletons that is right, then with each call
# site taken out, and with some moved: every mistake must be named.
set -eu
check=$1/examples/gpgpusim/check_call_sites.sh
work=$2
rm -rf "$work"
mkdir -p "$work/tree/src/gpgpu-sim" "$work/tree/src/cuda-sim"
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
sh "$check" "$work/tree" >"$work/right" || { cat "$work/right"; exit 1; }
refused() { # refused WHAT PATTERN: the broken tree is refused, and the message names the place
    if sh "$check" "$work/broken" >"$work/said"; then echo "$1 was not noticed"; exit 1; fi
    grep -q "$2" "$work/said" || { echo "$1: no message matches \"$2\""; cat "$work/said"; exit 1; }
}
broken() { rm -rf "$work/broken"; cp -r "$work/tree" "$work/broken"; }
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
rm -rf "$work/broken/src/gpgpu-sim"
if sh "$check" "$work/broken" 2>"$work/said"; then echo "a folder that is no tree was accepted"; exit 1; fi
grep -q "is it a GPGPU-Sim source tree" "$work/said"
echo "every missing or misplaced call site is named"
