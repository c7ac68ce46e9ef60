// The calls of gpump_dpi.c for a SystemVerilog design (DPI-C).
//
// Every function that returns `int` returns a gpump_result: 0 for success, above 0 for "not now" (GPUMP_EMPTY,
// GPUMP_BUSY), below 0 for an error, of which gpump_dpi_text says the cause and the remedy.
package gpump_dpi;
  // Orders of gpump_sm_next, and the states in which a block leaves: values of gpump.h. gpump_dpi.c does not compile
  // when they differ.
  typedef enum logic [3:0] {NONE = 0, STOP = 1, SAVE = 3, RESTORE = 4, DROP = 6, FREED = 8} order_t;
  localparam int SAVED = 6, FLUSHED = 8, DONE = 9;

  import "DPI-C" function chandle gpump_dpi_open(input string preset, input string policy, input int kernels,
                                                 input int contexts);
  import "DPI-C" function void gpump_dpi_close(input chandle sm);
  import "DPI-C" function string gpump_dpi_text(input chandle sm);

  // Facts
  import "DPI-C" function int gpump_dpi_place(input chandle sm, input longint now, input int cookie, input int kernel,
                                              input int threads, input int registers, input int shared_bytes,
                                              input int restored, output int slot, output int generation);
  import "DPI-C" function int gpump_dpi_executed(input chandle sm, input int slot, input int generation);
  import "DPI-C" function int gpump_dpi_done(input chandle sm, input longint now, input int slot, input int generation);
  import "DPI-C" function int gpump_dpi_stopped(input chandle sm, input longint now, input int slot,
                                                input int generation);
  import "DPI-C" function int gpump_dpi_dropped(input chandle sm, input longint now, input int slot,
                                                input int generation);
  import "DPI-C" function int gpump_dpi_saved(input chandle sm, input longint now, input int slot,
                                              input int generation);
  import "DPI-C" function int gpump_dpi_restored(input chandle sm, input longint now, input int slot,
                                                 input int generation);

  // Questions
  import "DPI-C" function int gpump_dpi_may_issue(input chandle sm, input int slot);
  import "DPI-C" function int gpump_dpi_next(input chandle sm, input longint now, output int order, output int cookie,
                                             output int why, output int bytes);
  import "DPI-C" function longint gpump_dpi_counter(input chandle sm, input string name);

  // Decision: every block of other kernels leaves for `kernel` within `limit_us`, by the techniques that the policy
  // chooses.
  import "DPI-C" function int gpump_dpi_vacate(input chandle sm, input longint now, input int kernel,
                                               input int limit_us);
endpackage
