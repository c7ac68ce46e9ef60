/* errors: instructions that go wrong, and what their warps do about it (iGPU 4.1, 4.3, 5.5).
 *
 * A circuit below its safe voltage computes a wrong result now and then (--errors, --detection). Here one bit of a
 * result, or of an access's address or data, is really flipped, and the circuit notices some cycles later. The warp
 * then goes back to the start of its short region (restart.h), and executes the region again. Until an instruction is
 * verified, stores behind it wait in a store queue, and nothing that cannot be undone issues: boundaries, barriers,
 * atomics, ends. Between such an effect and the boundary behind it, a warp executes with full margin and never errs; so
 * do control instructions, as in the paper.
 *
 * Arithmetic may raise exceptions (--trap). The warp goes back as well, and the instruction is emulated when it comes
 * there again. gpump_restart decides; this file makes errors and exceptions happen, and carries its answers out. */
#ifndef MINIGPU_ERRORS_H
#define MINIGPU_ERRORS_H

#include "machine/machine_options.h"
#include "parts/errors/error_facts.h"

#endif
