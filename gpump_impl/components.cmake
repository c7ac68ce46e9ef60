# The components of gpump in floor order (docs/design.md): a component uses only those above its own line.
# The generator and the split build both read this list, and nothing else decides the order.
set(GPUMP_COMPONENTS
  base
  gpu
  graph
  program
  metrics
  liveness
  constants
  registers
  compress
  cost
  sm
  preempt_points
  clobbers
  regions
  preserve
  page_checks
  context
  in_place
  spill
  victim
  scheduler_tables
  scheduler
  scheduler_policies
)
