package cl

import (
	"cmp"
	"fmt"

	"heddle/engine/plan"
)

// Limits of a round of expressions, and the words of its upload.
const (
	exprRange    = 8192 // RANGE in kernels/expression.cl
	exprPage     = 128  // PAGE
	exprOperands = 1 << 14
	exprUpload   = 1 << 20
	exprGroups   = 1 << 10                                        // a round with fewer groups is short
	exprGrowth   = 1 << 20                                        // bytes that a store keeps for a slot that grows
	exprLocal    = (plan.MaxDepth+1)*exprRange/8 + 8*exprPage + 8 // bytes of local memory at most
)

// exprShape is the memory of a slot.
type exprShape struct {
	groups  int // of a round
	decoded int // words
	docs    int // docIDs of one expansion
}

// mostShape and leastShape are the largest shape and the smallest one, of a single range.
var (
	mostShape  = exprShape{groups: 1 << 16, decoded: 1 << 24, docs: 1 << 24}
	leastShape = exprShape{groups: 1, decoded: decodeRound, docs: exprRange}
)

// leastExprBytes is the device memory that expressions need at least.
func leastExprBytes() uint64 { return leastShape.bytes() + exprGrowth }

// mostExprBytes limits the slots of a store with the given memory, except for a slot that
// grows.
func mostExprBytes(rt *opened, memory uint64) uint64 { return min(rt.info.Memory/256, memory/8) }

// exprSlots is the number of batches under way.
func exprSlots(t Tuning) int { return min(t.Slots, 4) }

// exprShapeFor returns the shape and the number of slots for the given number of bytes in
// all. It prefers fewer slots over short rounds. There is always one slot of leastShape.
func exprShapeFor(t Tuning, most uint64) (f exprShape, slots int) {
	f, slots = mostShape, exprSlots(t)
	for uint64(slots)*f.bytes() > most {
		if slots > 1 && f.groups <= exprGroups {
			slots--
		} else if !f.halve() {
			break
		}
	}
	return f, slots
}

// exprScratch is the memory that a store with lists that come and go leaves to
// expressions, out of the given number of bytes.
func exprScratch(rt *opened, bytes uint64) uint64 {
	f, slots := exprShapeFor(rt.tuning, mostExprBytes(rt, bytes))
	return uint64(slots)*f.bytes() + max(min(bytes/16, 4*uint64(mostShape.decoded)), exprGrowth) // the latter for one that grows
}

// halve makes the shape smaller. It reports false for leastShape.
func (f *exprShape) halve() bool {
	if *f == leastShape {
		return false
	}
	f.groups, f.decoded, f.docs = f.groups/2, f.decoded/2, max(f.docs/2, exprRange)
	return true
}

// bytes is the device memory of a slot.
func (f exprShape) bytes() uint64 {
	return 4 * uint64(f.groups*(exprRange/32+1)+f.decoded+f.docs+exprUpload+16)
}

// tooLarge returns the error of an expression that no round can hold.
func tooLarge(rt *opened, why error) error {
	return &plan.DeviceError{Kind: plan.ErrTooLarge, Device: rt.name(), Op: "evaluating a boolean expression", Err: why}
}

// setLocal is the work-group size of the kernels.
func setLocal(t Tuning) int {
	if t.Serial {
		return 1
	}
	return cmp.Or(t.SetWG, 128)
}

// expressionOperation registers the kernels of boolean expressions.
var expressionOperation = operation{
	Name:     "expression",
	Programs: []program{{Kernels: []string{"evaluate", "expand"}, Files: files("expression.cl")}},
	Check: func(t Tuning) error {
		if t.SetWG != 0 && (t.SetWG < 32 || t.SetWG > 256 || t.SetWG&(t.SetWG-1) != 0) {
			return fmt.Errorf("set_wg is %d, not 0, 32, 64, 128 or 256", t.SetWG)
		}
		return nil
	},
	Limits:   func(t Tuning) (local, group int) { return exprLocal, setLocal(t) },
	Defines:  func(t Tuning, define func(string, int)) { define("SET_WG", setLocal(t)) },
	SelfTest: selfTestExpr,
}
