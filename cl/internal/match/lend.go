package match

import (
	"context"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// mostLent is the largest memory for results that slots lend, in words. The slots of a store have as
// many loans at most, beside their own memory for results.
const mostLent = 8 << 20

// lend lends docs, in the pinned memory of a slot, to out. The slot gets spare memory. It returns
// false if there is none. Slots take all spare memories in turn: these are made and grow in the
// first rounds, because that stops the work of the device.
func (m *Matcher) lend(ctx context.Context, x *slot, docs []uint32, out *plan.Results) bool {
	if len(x.Down.Words) > mostLent {
		return false
	}
	select {
	case spare := <-m.spare:
		if spare == nil || len(spare.Words) < len(x.Down.Words) {
			back := func(p *device.Pinned) { m.spare <- p }
			grown, err := device.Detached(ctx, m.set.Device, func() (*device.Pinned, error) {
				err := m.set.Device.Grow(&spare, len(x.Down.Words), 0)
				if err != nil {
					back(spare)
				}
				return spare, err
			}, back)
			if err != nil {
				return false
			}
			spare = grown
		}
		lent := x.Down
		x.Down = spare
		out.Lend(docs, func() { m.spare <- lent })
		return true
	default:
		return false
	}
}
