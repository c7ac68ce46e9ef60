// Package gpump calls gpump.h: victim selection and partition policies for a simulator that is written in Go.
//
// C structs that a simulator fills have Go forms with the same fields; everything else stays C's.
package gpump

/*
#cgo CFLAGS: -O2
#include "../../../gpump.h"
#include <stdlib.h>
#include <string.h>

static const gpump_component *gpu_component(void) { return &gpump_gpu_component; }
static const gpump_component *sm_component(void) { return &gpump_sm_component; }

// Go hands over no pointer to a struct that holds pointers, so the question is put together here.
static gpump_result decide(const char *policy, const gpump_gpu *gpu, const gpump_footprint *need, uint32_t shared_bytes, const gpump_cost_history *histories,
                           uint32_t history_count, const gpump_block_view *views, uint32_t count, uint32_t kernel, uint32_t positions, uint64_t now,
                           uint64_t limit, gpump_block_choice *choices, gpump_victim_decision *decision, gpump_diag *diag) {
    const gpump_port port = gpump_gpu_port(gpu);
    gpump_cost_estimate estimates[64];
    gpump_victim_place places[64];
    gpump_victim_geometry geometry;
    gpump_victim_request request;
    gpump_victim_sm sm;
    gpump_victim_question question;
    gpump_result result;
    memset(&sm, 0, sizeof sm);
    memset(&question, 0, sizeof question);
    question.policy = gpump_victim_find(policy);
    if (!question.policy) return GPUMP_ERROR_UNKNOWN_NAME;
    if ((result = gpump_cost_estimate_blocks(&port, histories, history_count, views, count, NULL, &question.policy->cost, estimates, diag)) ||
        (result = gpump_victim_geometry_init(&geometry, gpu, need, shared_bytes, diag)) ||
        (result = gpump_victim_request_init(&request, kernel, positions, now)))
        return result;
    request.limit_cycles = limit;
    sm.blocks = views;
    sm.estimates = estimates;
    sm.count = count;
    question.request = &request;
    question.geometry = &geometry;
    question.sms = &sm;
    question.sm_count = 1;
    question.places = places;
    question.choices = choices;
    question.place_capacity = question.choice_capacity = 64;
    return gpump_victim_decide(&question, decision, diag);
}

static gpump_result divide(const char *policy, const char *machine, const gpump_footprint *needs, const uint32_t *kinds, const uint32_t *blocks,
                           const gpump_partition_point *curves, uint32_t count, gpump_partition_share *shares, gpump_diag *diag) {
    gpump_partition_config config;
    gpump_partition_kernel kernels[GPUMP_PARTITION_KERNELS];
    gpump_partition_request request;
    gpump_result result = gpump_preset(&gpump_partition_component, &config, machine, diag);
    memset(kernels, 0, sizeof kernels);
    memset(&request, 0, sizeof request);
    if (result) return result;
    if (count > GPUMP_PARTITION_KERNELS) return GPUMP_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        kernels[i].need = needs[i];
        kernels[i].kind = kinds[i];
        kernels[i].blocks = blocks[i];
        kernels[i].priority = 1;
        kernels[i].curve = curves + 64 * i;
    }
    request.count = count;
    request.config = &config;
    request.kernels = kernels;
    return gpump_partition_decide(gpump_partition_find(policy), &request, shares, diag);
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Error is what a call has refused: the result of gpump.h and its diagnostic as a sentence.
type Error struct {
	Result int
	Text   string
}

func (e *Error) Error() string { return e.Text }

func failure(result C.gpump_result, diag *C.gpump_diag) error {
	if result == 0 {
		return nil
	}
	if diag == nil || diag.code != result {
		return &Error{int(result), C.GoString(C.gpump_result_text(result))}
	}
	text := make([]C.char, 512)
	C.gpump_diag_text(diag, &text[0], 512)
	return &Error{int(result), C.GoString(&text[0])}
}

// Footprint is what one thread block needs: threads, 32-bit registers, bytes of shared memory.
type Footprint struct{ Threads, Registers, SharedBytes uint32 }

func (f Footprint) c() C.gpump_footprint {
	return C.gpump_footprint{threads: C.uint32_t(f.Threads), registers: C.uint32_t(f.Registers), shared_bytes: C.uint32_t(f.SharedBytes)}
}

// GPU is a machine by the name of its preset.
type GPU struct {
	Name string
	gpu  C.gpump_gpu
}

// NewGPU finds a preset, such as "h100".
func NewGPU(name string) (*GPU, error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	g, diag := &GPU{Name: name}, C.gpump_diag{}
	return g, failure(C.gpump_preset(C.gpu_component(), unsafe.Pointer(&g.gpu), text, &diag), &diag)
}

// Occupancy returns how many blocks an SM holds.
func (g *GPU) Occupancy(need Footprint) (uint32, error) {
	var fits C.gpump_occupancy
	var diag C.gpump_diag
	footprint := need.c()
	result := C.gpump_gpu_occupancy(&g.gpu, &footprint, &fits, &diag)
	return uint32(fits.blocks), failure(result, &diag)
}

// ContextBytes returns the bytes of a block's saved context.
func (g *GPU) ContextBytes(need Footprint) uint64 {
	footprint := need.c()
	return uint64(C.gpump_gpu_context_bytes(&g.gpu, &footprint))
}

// Clock returns cycles per microsecond.
func (g *GPU) Clock() uint64 { return uint64(g.gpu.clock_khz) / 1000 }

// SM keeps the slots and the block life cycle of one SM (gpump_sm).
type SM struct {
	memory []uint64
	sm     *C.gpump_sm
}

// NewSM makes an SM of a machine whose transfers are timed by its port.
func (g *GPU) NewSM() (*SM, error) {
	text := C.CString(g.Name)
	defer C.free(unsafe.Pointer(text))
	var config C.gpump_sm_config
	var diag C.gpump_diag
	var bytes C.size_t
	component := C.sm_component()
	if result := C.gpump_preset(component, unsafe.Pointer(&config), text, &diag); result != 0 {
		return nil, failure(result, &diag)
	}
	config.timing = C.GPUMP_SM_TIMING_PORT
	if result := C.gpump_bytes(component, unsafe.Pointer(&config), &bytes, &diag); result != 0 {
		return nil, failure(result, &diag)
	}
	memory := C.calloc(1, bytes) // C's memory: the object is flat, and Go never moves it
	var made unsafe.Pointer
	result := C.gpump_init(component, memory, bytes, unsafe.Pointer(&config), unsafe.Pointer(&made), &diag)
	return &SM{sm: (*C.gpump_sm)(made)}, failure(result, &diag)
}

// Block names a block while it is on the SM.
type Block struct{ Slot, Generation uint32 }

func (b Block) c() C.gpump_block_ref {
	return C.gpump_block_ref{slot: C.uint32_t(b.Slot), generation: C.uint32_t(b.Generation)}
}

// History is what a block has executed; a saved block continues from it.
type History struct{ history C.gpump_sm_history }

// Place puts a block on the SM; ok is false when there is no room now.
func (s *SM) Place(now, cookie uint64, kernel uint32, need Footprint, saved *History) (block Block, ok bool, err error) {
	var ref C.gpump_block_ref
	var diag C.gpump_diag
	var history *C.gpump_sm_history
	if saved != nil {
		history = &saved.history
	}
	request := C.gpump_sm_request{cookie: C.uint64_t(cookie), kernel: C.uint32_t(kernel), need: need.c()}
	result := C.gpump_sm_place(s.sm, C.uint64_t(now), &request, history, &ref, &diag)
	if result == C.GPUMP_BUSY {
		return Block{}, false, nil
	}
	return Block{uint32(ref.slot), uint32(ref.generation)}, result == 0, failure(result, &diag)
}

// ReportExecuted says how many warp instructions a block has executed since the last report.
func (s *SM) ReportExecuted(block Block, instructions uint32) error {
	return failure(C.gpump_sm_report_executed(s.sm, block.c(), C.uint32_t(instructions)), nil)
}

// ReportDone says that a block has ended.
func (s *SM) ReportDone(now uint64, block Block) error {
	return failure(C.gpump_sm_report_done(s.sm, C.uint64_t(now), block.c()), nil)
}

// ReportStopped says that nothing of a block is in flight any more.
func (s *SM) ReportStopped(now uint64, block Block) error {
	return failure(C.gpump_sm_report_waits(s.sm, C.uint64_t(now), block.c(), 0), nil)
}

// ReportDropped says that a block's state is gone.
func (s *SM) ReportDropped(now uint64, block Block) error {
	return failure(C.gpump_sm_report_dropped(s.sm, C.uint64_t(now), block.c()), nil)
}

// Action is what the SM orders.
type Action struct {
	Kind, Why int
	Cookie    uint64
	Block     Block
	History   *History
	Executed  uint64
	Cycles    uint64
}

// Next returns the next action of this cycle, or nil.
func (s *SM) Next(now uint64) *Action {
	var a C.gpump_sm_action
	if C.gpump_sm_next(s.sm, C.uint64_t(now), &a) != 0 {
		return nil
	}
	return &Action{int(a.kind), int(a.why), uint64(a.cookie), Block{uint32(a.block.slot), uint32(a.block.generation)},
		&History{a.history}, uint64(a.history.executed), uint64(a.history.cycles)}
}

// NextCycle returns the cycle of the SM's next event by itself; math.MaxUint64 when there is none.
func (s *SM) NextCycle() uint64 {
	return uint64(C.gpump_next_cycle(C.sm_component(), unsafe.Pointer(s.sm)))
}

// Histories holds what finished blocks of each kernel took, by kernel number.
type Histories struct{ list []C.gpump_cost_history }

// NewHistories has room for kernels 0 to kernels - 1.
func NewHistories(kernels int) *Histories { return &Histories{make([]C.gpump_cost_history, kernels)} }

// Record counts a finished block.
func (h *Histories) Record(kernel int, executed, cycles uint64) {
	C.gpump_cost_history_record(&h.list[kernel], C.uint64_t(executed), C.uint64_t(cycles))
}

// Choice is one victim: which block leaves by which technique, and when it is estimated to be gone.
type Choice struct {
	Cookie    uint64
	Technique string
	Latency   uint64
	choice    C.gpump_block_choice
}

// MakeRoom asks a victim policy for room for `positions` blocks of a kernel within `limit` cycles, and tells the SM.
func (s *SM) MakeRoom(g *GPU, policy string, histories *Histories, now uint64, kernel uint32, need Footprint, positions uint32, limit uint64) ([]Choice, error) {
	var views [64]C.gpump_block_view
	var choices [64]C.gpump_block_choice
	var count C.uint32_t
	var decision C.gpump_victim_decision
	var diag C.gpump_diag
	text, footprint := C.CString(policy), need.c()
	defer C.free(unsafe.Pointer(text))
	if result := C.gpump_sm_blocks(s.sm, C.uint64_t(now), &views[0], 64, &count); result != 0 {
		return nil, failure(result, nil)
	}
	if result := C.decide(text, &g.gpu, &footprint, 49152, &histories.list[0], C.uint32_t(len(histories.list)), &views[0], count, C.uint32_t(kernel),
		C.uint32_t(positions), C.uint64_t(now), C.uint64_t(limit), &choices[0], &decision, &diag); result != 0 {
		return nil, failure(result, &diag)
	}
	if result := C.gpump_sm_preempt(s.sm, C.uint64_t(now), &choices[0], decision.choices, &diag); result != 0 {
		return nil, failure(result, &diag)
	}
	list := make([]Choice, decision.choices)
	for i := range list {
		c := choices[i]
		list[i] = Choice{uint64(c.cookie), C.GoString(C.gpump_technique_at(c.technique).name), uint64(c.latency), c}
	}
	return list, nil
}

// Kernel is what a partition policy knows of a kernel: its blocks, its class, and its speed and use of bandwidth with one
// to len(Speed) blocks on each SM, each from 0 to 1 of what it reaches at most and of what is sustainable.
type Kernel struct {
	Name                 string
	Need                 Footprint
	Class                int
	Speed, Network, Dram []float64
}

// Share is what a kernel gets on each of its SMs.
type Share struct{ Blocks, FirstSM, SMs uint32 }

// Divide asks a partition policy, such as "even" or "ws", how kernels share a machine's SMs.
func Divide(policy, machine string, kernels []Kernel) ([]Share, error) {
	needs, kinds, blocks := make([]C.gpump_footprint, len(kernels)), make([]C.uint32_t, len(kernels)), make([]C.uint32_t, len(kernels))
	curves, shares := make([]C.gpump_partition_point, 64*len(kernels)), make([]C.gpump_partition_share, len(kernels))
	for i, k := range kernels {
		needs[i], kinds[i], blocks[i] = k.Need.c(), C.uint32_t(k.Class), C.uint32_t(len(k.Speed))
		for n := range k.Speed {
			curves[64*i+n].speed_q16 = C.uint32_t(k.Speed[n] * 65536)
			curves[64*i+n].network_q16 = C.uint32_t(k.Network[n] * 100 * 65536)
			curves[64*i+n].dram_q16 = C.uint32_t(k.Dram[n] * 100 * 65536)
		}
	}
	var diag C.gpump_diag
	a, b := C.CString(policy), C.CString(machine)
	defer C.free(unsafe.Pointer(a))
	defer C.free(unsafe.Pointer(b))
	result := C.divide(a, b, &needs[0], &kinds[0], &blocks[0], &curves[0], C.uint32_t(len(kernels)), &shares[0], &diag)
	list := make([]Share, len(kernels))
	for i, s := range shares {
		list[i] = Share{uint32(s.blocks), uint32(s.first_sm), uint32(s.sms)}
	}
	return list, failure(result, &diag)
}

func (c Choice) String() string {
	return fmt.Sprintf("block %d by %s within %d cycles", c.Cookie, c.Technique, c.Latency)
}
