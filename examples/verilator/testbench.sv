// testbench: kernel 2 arrives at cycle 23,000. At the end the counters of the design and those of gpump must agree.
//
// Plus-arguments: +policy=joint +preset=k20c +limit_us=5 +arrival=23000 +issue_ports=1 +dispatch_ports=1
module testbench;
  import gpump_dpi::*;
  localparam int BLOCKS = 32;
  logic clk = 0, reset = 1, done;
  longint cycle, issued, arrival_cycle, wanted, wasted, saved, restored;
  int issue_ports, dispatch_ports;

  sm_scheduler #(.BLOCKS(BLOCKS)) dut (
      .clk, .reset, .issue_ports, .dispatch_ports, .arrival(!reset && cycle == arrival_cycle), .done, .cycle, .issued
  );

  initial forever #1 clk = !clk;

  initial begin
    if ($value$plusargs("issue_ports=%d", issue_ports) == 0) issue_ports = 1;
    if ($value$plusargs("dispatch_ports=%d", dispatch_ports) == 0) dispatch_ports = 1;
    if ($value$plusargs("arrival=%d", arrival_cycle) == 0) arrival_cycle = 23000;
    if (issue_ports < 1 || dispatch_ports < 1)
      $fatal(1, "issue_ports is %0d and dispatch_ports is %0d: each is at least 1", issue_ports, dispatch_ports);
    for (int i = 0; i < BLOCKS; i++) wanted += longint'(dut.length_of(i));
    repeat (2) @(negedge clk);
    reset = 0;
    @(posedge done);
    $display("%8d  all %0d blocks have ended", cycle, BLOCKS);
    wasted = gpump_dpi_counter(dut.sm, "wasted");
    saved = gpump_dpi_counter(dut.sm, "saved");
    restored = gpump_dpi_counter(dut.sm, "restored");
    $display("%8d  warp instructions issued, %0d of them wasted; blocks: %0d saved, %0d restored, %0d flushed", issued,
             wasted, saved, restored, gpump_dpi_counter(dut.sm, "flushed"));
    if (issued != wanted + wasted)
      $fatal(1, "the blocks have %0d instructions, and with the wasted ones the design should have issued %0d", wanted,
             wanted + wasted);
    if (saved != restored) $fatal(1, "%0d blocks were saved, and %0d restored", saved, restored);
    $finish;
  end
endmodule
