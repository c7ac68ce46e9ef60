// sm_scheduler: the thread-block dispatcher and the warp scheduler of one SM. gpump_sm decides what each block does.
//
// Every cycle goes through the five steps of docs/hosting.md, one function per step. `blocks` holds the registers at
// the beginning of the cycle, `next` what the steps make of them, and the clock edge takes `next` over. All calls of
// gpump stand in this one process, so that their order is that of the steps in every simulator.
module sm_scheduler
  import gpump_dpi::*;
#(
    parameter int BLOCKS = 32,         // of both kernels
    parameter int FIRST = 24,          // blocks 0 to FIRST - 1 are of kernel 1, the others of kernel 2
    parameter int THREADS = 256,       // of a block
    parameter int REGISTERS = 32,      // of a thread
    parameter int SHARED_BYTES = 4096, // of a block
    parameter int LATENCY = 20,        // cycles from the issue of an instruction to its commit
    parameter int BYTES_PER_CYCLE = 16 // of the memory that carries contexts
) (
    input logic clk,
    input logic reset,
    input int issue_ports,    // warp instructions per cycle, of different blocks
    input int dispatch_ports, // blocks placed per cycle
    input logic arrival,      // kernel 2 arrives in this cycle: every block of kernel 1 leaves
    output logic done,        // all blocks have ended
    output longint cycle,
    output longint issued     // warp instructions
);
  typedef enum logic [1:0] {WAITING, HERE, ENDED} place_t;
  typedef struct packed {
    place_t place;
    logic has_context;
    order_t order;                // that the block carries out
    logic [31:0] slot, generation;
    logic [31:0] left;            // instructions that are not issued
    logic [LATENCY-2:0] pipeline; // bit i: an instruction that was issued i + 1 cycles ago
    longint moved;                // cycle at which memory has carried its context
  } block_t;

  block_t [BLOCKS-1:0] blocks;
  logic second;        // kernel 2 is there
  int turn;            // block that may issue first
  longint memory_free; // cycle at which memory has carried all contexts
  chandle sm;
  string policy, preset;
  int limit_us;

  function automatic int length_of(int cookie);
    return 12000 + 400 * cookie; // warp instructions
  endfunction

  // Ends the simulation when a call has failed.
  function automatic void must(string call, int result);
    if (result != 0) $fatal(1, "%s: %s", call, gpump_dpi_text(sm));
  endfunction

  initial begin
    if ($value$plusargs("policy=%s", policy) == 0) policy = "joint";
    if ($value$plusargs("preset=%s", preset) == 0) preset = "k20c";
    if ($value$plusargs("limit_us=%d", limit_us) == 0) limit_us = 5;
    sm = gpump_dpi_open(preset, policy, 2, BLOCKS);
    if (limit_us < 0) $fatal(1, "limit_us is %0d: it is at least 0", limit_us);
    if (gpump_dpi_text(sm) != "") $fatal(1, "gpump_dpi_open: %s", gpump_dpi_text(sm));
  end
  final gpump_dpi_close(sm);

  // Step 1: memory reports the contexts that it has carried.
  function automatic void report_moved(inout block_t [BLOCKS-1:0] next, input int i);
    if (cycle < next[i].moved || (next[i].order != SAVE && next[i].order != RESTORE)) return;
    if (next[i].order == SAVE) must("gpump_dpi_saved", gpump_dpi_saved(sm, cycle, next[i].slot, next[i].generation));
    else must("gpump_dpi_restored", gpump_dpi_restored(sm, cycle, next[i].slot, next[i].generation));
    next[i].order = NONE;
  endfunction

  // Step 2: blocks of `kernel` that wait are placed; the first one that has no room ends the round.
  function automatic void dispatch(inout block_t [BLOCKS-1:0] next, input int kernel);
    int placed = 0;
    for (int i = 0; i < BLOCKS && placed < dispatch_ports; i++)
      if ((i < FIRST ? 1 : 2) == kernel && next[i].place == WAITING) begin
        int slot, generation, result;
        result = gpump_dpi_place(sm, cycle, i, kernel, THREADS, THREADS * REGISTERS, SHARED_BYTES,
                                 int'(next[i].has_context), slot, generation);
        if (result > 0) return;
        must("gpump_dpi_place", result);
        next[i].place = HERE;
        next[i].slot = slot;
        next[i].generation = generation;
        placed++;
      end
  endfunction

  // Step 3: blocks that may issue take the ports in turn. The result has a bit for each block that issues.
  function automatic logic [BLOCKS-1:0] issue(inout block_t [BLOCKS-1:0] next, inout int first);
    int granted = 0, i = first;
    issue = '0;
    for (int n = 0; n < BLOCKS && granted < issue_ports; n++) begin
      if (next[i].place == HERE && next[i].left != 0 && gpump_dpi_may_issue(sm, next[i].slot) != 0) begin
        must("gpump_dpi_executed", gpump_dpi_executed(sm, next[i].slot, next[i].generation));
        next[i].left--;
        issue[i] = 1;
        granted++;
        first = (i + 1) % BLOCKS;
      end
      i = (i + 1) % BLOCKS;
    end
  endfunction

  // Step 4: nothing of the block is in flight any more. Its end comes first: it wins over STOP and DROP.
  function automatic void write_back(inout block_t [BLOCKS-1:0] next, input int i);
    if (next[i].pipeline != 0 || next[i].order == SAVE || next[i].order == RESTORE) return;
    if (next[i].left == 0) begin
      must("gpump_dpi_done", gpump_dpi_done(sm, cycle, next[i].slot, next[i].generation));
      next[i].place = ENDED;
    end else if (next[i].order == STOP)
      must("gpump_dpi_stopped", gpump_dpi_stopped(sm, cycle, next[i].slot, next[i].generation));
    else if (next[i].order == DROP)
      must("gpump_dpi_dropped", gpump_dpi_dropped(sm, cycle, next[i].slot, next[i].generation));
    next[i].order = NONE;
  endfunction

  // Step 5: blocks take the SM's orders. Memory carries one context after the other.
  function automatic void obey(inout block_t [BLOCKS-1:0] next, inout longint free);
    int order, cookie, why, bytes;
    while (gpump_dpi_next(sm, cycle, order, cookie, why, bytes) == 0) begin
      next[cookie].order = order_t'(order[3:0]);
      if (order == int'(SAVE) || order == int'(RESTORE)) begin
        free = (cycle > free ? cycle : free) + longint'(bytes) / longint'(BYTES_PER_CYCLE);
        next[cookie].moved = free;
      end
      if (order == int'(FREED)) begin
        next[cookie].order = NONE;
        next[cookie].has_context = why == SAVED;
        if (why == FLUSHED) next[cookie].left = length_of(cookie);
        if (why != DONE) next[cookie].place = WAITING;
        if (why == SAVED) $display("%8d  block %0d has left with its context", cycle, cookie);
        else $display("%8d  block %0d has left", cycle, cookie);
      end
    end
  endfunction

  function automatic int count(block_t [BLOCKS-1:0] b, int first, int last, place_t place);
    count = 0;
    for (int i = first; i <= last; i++) if (b[i].place == place) count++;
  endfunction

  always_ff @(posedge clk) begin
    automatic block_t [BLOCKS-1:0] next = blocks;
    automatic logic [BLOCKS-1:0] grant;
    automatic longint free = memory_free;
    automatic int first = turn;
    if (reset) begin
      for (int i = 0; i < BLOCKS; i++) begin
        next[i] = '0;
        next[i].left = length_of(i);
      end
      {second, turn, memory_free, cycle, issued, done} <= '0;
    end else if (!done) begin
      if (arrival) must("gpump_dpi_vacate", gpump_dpi_vacate(sm, cycle, 2, limit_us));
      for (int i = 0; i < BLOCKS; i++) report_moved(next, i);
      dispatch(next, (second || arrival) && count(next, FIRST, BLOCKS - 1, ENDED) < BLOCKS - FIRST ? 2 : 1);
      grant = issue(next, first);
      for (int i = 0; i < BLOCKS; i++)
        if (next[i].place == HERE && !grant[i]) write_back(next, i);
      obey(next, free);
      for (int i = 0; i < BLOCKS; i++) next[i].pipeline = {next[i].pipeline[LATENCY-3:0], grant[i]};
      second <= second || arrival;
      turn <= first;
      memory_free <= free;
      cycle <= cycle + 1;
      issued <= issued + longint'($countones(grant));
      done <= count(next, 0, BLOCKS - 1, ENDED) == BLOCKS;
    end
    blocks <= next;
  end
endmodule
