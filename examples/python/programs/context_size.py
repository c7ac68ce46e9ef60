"""How many bytes a full SM holds in the blocks of one kernel, and how long saving them takes, on each machine."""
import gpump

need = gpump.footprint(threads=256, registers=256 * 64, shared_bytes=16384)
for name in ('gtx480_shieh', 'k20c', 'p100', 'v100', 'a100', 'h100'):
    gpu = gpump.gpu.preset(name)
    blocks = gpump.gpu_occupancy(gpu, need).blocks
    held = blocks * gpump.gpu_context_bytes(gpu, need)
    print('%-13s %2d blocks on an SM, %7d bytes, saved in %6.2f us' % (name, blocks, held, gpump.gpu_save_ps(gpu, held) / 1e6))
