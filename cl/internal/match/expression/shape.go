package expression

import (
	"cmp"
	"fmt"

	ocl "github.com/jgillich/go-opencl/cl"

	"heddle/cl/internal/device"
	"heddle/cl/internal/lists"
	"heddle/engine/plan"
)

// Limits of a round of expressions, and the words of its upload.
const (
	rangeLen    = 8192 // RANGE in kernels/expression.cl
	page        = 128  // PAGE
	maxOperands = 1 << 14
	uploadWords = 1 << 20
	fewGroups   = 1 << 10                                   // a round with fewer groups is short
	growth      = 1 << 20                                   // bytes that a store keeps for a slot that grows
	localMemory = (plan.MaxDepth+1)*rangeLen/8 + 8*page + 8 // bytes of local memory at most
)

// shape is the memory of a slot.
type shape struct {
	groups  int // groups of a round at most
	decoded int // words
	docs    int // docIDs of one expansion
}

// mostShape and leastShape are the largest shape and the smallest one, of a single range.
var (
	mostShape  = shape{groups: 1 << 16, decoded: 1 << 24, docs: 1 << 24}
	leastShape = shape{groups: 1, decoded: lists.DecodeRound, docs: rangeLen}
)

// LeastBytes is the device memory that expressions need at least.
func LeastBytes() uint64 { return leastShape.bytes() + growth }

// mostBytes limits the slots of a store with the given memory, except for a slot that
// grows.
func mostBytes(rt *device.Runtime, memory uint64) uint64 { return min(rt.Info.Memory/256, memory/8) }

// maxSlots is the number of batches under way.
func maxSlots(t device.Tuning) int { return min(t.Slots, 4) }

// shapeFor returns the shape and the number of slots for the given number of bytes in
// all. It prefers fewer slots over short rounds. There is always one slot of leastShape.
func shapeFor(t device.Tuning, most uint64) (f shape, slots int) {
	f, slots = mostShape, maxSlots(t)
	for uint64(slots)*f.bytes() > most {
		if slots > 1 && f.groups <= fewGroups {
			slots--
		} else if !f.halve() {
			break
		}
	}
	return f, slots
}

// Scratch is the memory that a store with lists that come and go leaves to
// expressions, out of the given number of bytes.
func Scratch(rt *device.Runtime, bytes uint64) uint64 {
	f, slots := shapeFor(rt.Tuning, mostBytes(rt, bytes))
	return uint64(slots)*f.bytes() + max(min(bytes/16, 4*uint64(mostShape.decoded)), growth) // the latter for one that grows
}

// halve makes the shape smaller. It reports false for leastShape.
func (f *shape) halve() bool {
	if *f == leastShape {
		return false
	}
	f.groups, f.decoded, f.docs = f.groups/2, f.decoded/2, max(f.docs/2, rangeLen)
	return true
}

// bytes is the device memory of a slot.
func (f shape) bytes() uint64 {
	return 4 * uint64(f.groups*(rangeLen/32+1)+f.decoded+f.docs+uploadWords+16)
}

// tooLarge returns the error of an expression that no round can hold.
func tooLarge(rt *device.Runtime, why error) error {
	return &plan.DeviceError{Kind: plan.ErrTooLarge, Device: rt.Name(), Op: "evaluating a boolean expression", Err: why}
}

// workGroup is the work-group size of the kernels.
func workGroup(t device.Tuning) int { return t.Local(cmp.Or(t.SetWG, 128)) }

// The kernels and their arguments.
var (
	evaluate = device.NewKernel[evaluateArguments]("evaluate")
	expand   = device.NewKernel[expandArguments]("expand")
)

type evaluateArguments struct {
	a                                        [lists.MaxArenas]*ocl.MemObject
	aux, decoded, batch, words, counts, sums *ocl.MemObject
	stepsAt, groupsAt, docs, sumsAt          int
	stack                                    device.LocalBytes
}

type expandArguments struct {
	batch, words, counts, sums, out *ocl.MemObject
	groupsAt, sumsAt, first, skip   int
}

// Operation registers the kernels of boolean expressions.
var Operation = device.Operation{
	Name:     "expression",
	Programs: []device.Program{{Kernels: []device.Function{evaluate, expand}, Files: device.Files("expression.cl")}},
	Check: func(t device.Tuning) error {
		if t.SetWG != 0 && (t.SetWG < 32 || t.SetWG > 256 || t.SetWG&(t.SetWG-1) != 0) {
			return fmt.Errorf("set_wg is %d, not 0, 32, 64, 128 or 256", t.SetWG)
		}
		return nil
	},
	Limits:   func(t device.Tuning) (local, group int) { return localMemory, workGroup(t) },
	Defines:  func(t device.Tuning, define func(string, int)) { define("SET_WG", workGroup(t)) },
	SelfTest: selfTest,
}
