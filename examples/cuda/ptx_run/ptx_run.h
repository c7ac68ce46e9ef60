/* ptx_run: runs a kernel of PTX text on the mini-GPU, on memory of the host: the call of frameworks that interpret PTX
 * without a GPU. MINIGPU configures the machine (docs/cuda.md). */
#ifndef MINIGPU_PTX_RUN_H
#define MINIGPU_PTX_RUN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the first kernel of `source` to its end.
 *
 *   source          PTX text that a 0 ends; the same text is read once
 *   argument_count  must be the number of the kernel's parameters
 *   arguments       each the bits of a parameter of at most 8 bytes: a host pointer, or a number
 *   block_x ...     threads of a block, blocks of the grid
 *   shared_bytes    dynamic shared memory of a block
 *
 * Returns 0, or 1 after a sentence on standard error. The kernel may access all memory of the process, as the process
 * itself may: a wrong address can end it. Cost: that of the simulation, and some milliseconds for the machine. */
__attribute__((visibility("default"))) int ptx_run(const char *source, int argument_count, void *const *arguments,
                                                   int block_x, int block_y, int block_z, int grid_x, int grid_y,
                                                   int grid_z, int shared_bytes);

#ifdef __cplusplus
}
#endif

#endif
