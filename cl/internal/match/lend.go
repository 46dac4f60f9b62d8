package match

import "heddle/engine/plan"

// lend lends docs, in the pinned memory of a slot, to out. The slot gets spare memory. It returns
// false if there is none.
func (m *Matcher) lend(x *slot, docs []uint32, out *plan.Results) bool {
	select {
	case spare := <-m.spare:
		if m.set.Device.Grow(&spare, len(x.Down.Words), 0) != nil {
			m.spare <- spare
			return false
		}
		lent := x.Down
		x.Down = spare
		out.Lend(docs, func() { m.spare <- lent })
		return true
	default:
		return false
	}
}
