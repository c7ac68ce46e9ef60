// share: a small event-driven simulator in the style of akita, whose SM asks gpump which blocks leave for an urgent kernel
// and how two kernels divide its SMs. From this folder: go run .
package main

import (
	"container/heap"
	"fmt"
	"math"
	"os"

	"gpump.example/share/gpump"
)

// Event happens at a cycle and is handled once.
type Event struct {
	Cycle  uint64
	Handle func(now uint64)
}

// Engine runs events in the order of their cycles.
type Engine struct{ queue []Event }

func (e *Engine) Len() int           { return len(e.queue) }
func (e *Engine) Less(i, j int) bool { return e.queue[i].Cycle < e.queue[j].Cycle }
func (e *Engine) Swap(i, j int)      { e.queue[i], e.queue[j] = e.queue[j], e.queue[i] }
func (e *Engine) Push(x interface{}) { e.queue = append(e.queue, x.(Event)) }
func (e *Engine) Pop() interface{} {
	last := e.queue[len(e.queue)-1]
	e.queue = e.queue[:len(e.queue)-1]
	return last
}
func (e *Engine) At(cycle uint64, handle func(uint64)) { heap.Push(e, Event{cycle, handle}) }
func (e *Engine) Run() {
	for e.Len() > 0 {
		next := heap.Pop(e).(Event)
		next.Handle(next.Cycle)
	}
}

type block struct {
	kernel    uint32
	ref       gpump.Block
	saved     *gpump.History
	left      uint64 // instructions; a running block executes one a cycle
	since     uint64
	runs, out bool
}

// Unit is an SM of the simulator: the blocks and their progress are its own, the rest is gpump's.
type Unit struct {
	engine    *Engine
	gpu       *gpump.GPU
	sm        *gpump.SM
	need      gpump.Footprint
	histories *gpump.Histories
	blocks    []*block
	woken     uint64
	policy    string
	must      func(error)
}

func (u *Unit) dispatch(now uint64, kernel uint32) {
	for i, b := range u.blocks {
		if b.kernel != kernel || !b.out || b.left == 0 {
			continue
		}
		ref, ok, err := u.sm.Place(now, uint64(i), b.kernel, u.need, b.saved)
		u.must(err)
		if !ok {
			return
		}
		b.ref, b.out, b.runs, b.since = ref, false, b.saved == nil, now
		if b.runs {
			u.end(now, b)
		}
	}
}

func (u *Unit) end(now uint64, b *block) {
	ref := b.ref
	u.engine.At(now+b.left, func(now uint64) {
		if b.runs && b.ref == ref && b.since+b.left == now {
			u.progress(now, b)
			b.runs = false
			u.must(u.sm.ReportDone(now, b.ref))
			u.obey(now)
		}
	})
}

func (u *Unit) progress(now uint64, b *block) {
	if b.runs {
		u.must(u.sm.ReportExecuted(b.ref, uint32(now-b.since)))
		b.left -= now - b.since
		b.since = now
	}
}

// obey carries out what the SM orders in this cycle, and asks to be woken for its next event.
func (u *Unit) obey(now uint64) {
	for a := u.sm.Next(now); a != nil; a = u.sm.Next(now) {
		b := u.blocks[a.Cookie]
		u.progress(now, b)
		switch a.Kind {
		case gpump.SmActionStop:
			b.runs = false
			u.must(u.sm.ReportStopped(now, b.ref))
		case gpump.SmActionDrop:
			b.runs = false
			u.must(u.sm.ReportDropped(now, b.ref))
		case gpump.SmActionResume:
			b.runs, b.since = true, now
			u.end(now, b)
		case gpump.SmActionFreed:
			b.out, b.saved = true, nil
			switch a.Why {
			case gpump.BlockSaved:
				b.saved = a.History
			case gpump.BlockFlushed:
				b.left = length
			case gpump.BlockDone:
				u.histories.Record(int(b.kernel), a.Executed, a.Cycles)
			}
			if b.kernel == 1 && a.Why != gpump.BlockDone {
				fmt.Printf("%8d  block %d has left\n", now, a.Cookie)
			}
			u.engine.At(now, func(now uint64) { u.dispatch(now, 2); u.dispatch(now, 1); u.obey(now) })
		}
	}
	if next := u.sm.NextCycle(); next != math.MaxUint64 && next != u.woken {
		u.woken = next
		u.engine.At(next, u.obey)
	}
}

const length, arrival = 30000, 40000

func run(policy string) (lastEnd uint64, err error) {
	gpu, err := gpump.NewGPU("k20c")
	if err != nil {
		return 0, err
	}
	sm, err := gpu.NewSM()
	if err != nil {
		return 0, err
	}
	engine := &Engine{}
	u := &Unit{engine: engine, gpu: gpu, sm: sm, need: gpump.Footprint{Threads: 256, Registers: 256 * 32, SharedBytes: 4096},
		histories: gpump.NewHistories(3), policy: policy, must: func(err error) {
			if err != nil {
				fmt.Fprintln(os.Stderr, "share:", err)
				os.Exit(1)
			}
		}}
	for i := 0; i < 28; i++ {
		kernel := uint32(1)
		if i >= 24 {
			kernel = 2
		}
		u.blocks = append(u.blocks, &block{kernel: kernel, left: length, out: true})
	}
	engine.At(0, func(now uint64) { u.dispatch(now, 1); u.obey(now) })
	engine.At(arrival, func(now uint64) {
		for _, b := range u.blocks {
			u.progress(now, b)
		}
		choices, err := sm.MakeRoom(gpu, policy, u.histories, now, 2, u.need, 4, 5*gpu.Clock())
		u.must(err)
		for _, c := range choices {
			fmt.Printf("%8d  %s is to leave: %v\n", now, policy, c)
		}
		u.obey(now)
		u.dispatch(now, 2)
		u.obey(now)
	})
	last := func() uint64 {
		var end uint64
		for _, b := range u.blocks {
			if b.left != 0 {
				u.must(fmt.Errorf("a block of kernel %d has not ended", b.kernel))
			}
			if b.since > end {
				end = b.since
			}
		}
		return end
	}
	engine.Run()
	return last(), nil
}

func main() {
	for _, policy := range []string{"drain", "dual"} {
		end, err := run(policy)
		if err != nil {
			fmt.Fprintln(os.Stderr, "share:", err)
			os.Exit(1)
		}
		fmt.Printf("%8d  all blocks have ended under %s\n", end, policy)
	}
	ramp := []float64{0.2, 0.4, 0.6, 0.8, 1}
	flat := []float64{0.5, 1, 1, 1, 1}
	small := []float64{0.1, 0.1, 0.1, 0.1, 0.1}
	need := gpump.Footprint{Threads: 256, Registers: 256 * 24, SharedBytes: 4096}
	kernels := []gpump.Kernel{{Name: "compute", Need: need, Speed: ramp, Network: small, Dram: small},
		{Name: "memory", Need: need, Speed: flat, Network: flat, Dram: flat}}
	for _, policy := range []string{"even", "ws", "spatial"} {
		shares, err := gpump.Divide(policy, "gtx480_shieh", kernels)
		if err != nil {
			fmt.Printf("%-8s  %v\n", policy, err)
			continue
		}
		for i, s := range shares {
			fmt.Printf("%-8s  %s: %d blocks on each of SMs %d to %d\n", policy, kernels[i].Name, s.Blocks, s.FirstSM, s.FirstSM+s.SMs-1)
		}
	}
}
