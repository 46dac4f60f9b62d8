package match

import (
	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// mostLent is the largest memory for results that slots lend, in words. The slots of a store have as
// many loans at most, beside their own memory for results.
const mostLent = 8 << 20

// lend lends docs, in the pinned memory of a slot, to out. The slot gets spare memory. It returns
// false if there is none.
func (m *Matcher) lend(x *slot, docs []uint32, out *plan.Results) bool {
	size := len(x.Down.Words)
	if size > mostLent {
		return false
	}
	spare, err := m.spare.Try(func() (*device.Pinned, error) { return x.Device.NewPinned(4 * size) })
	if err != nil || spare == nil {
		return false
	}
	lent := x.Down
	x.Down = spare
	out.Lend(docs, func() { m.spare.Give(lent) })
	return true
}
