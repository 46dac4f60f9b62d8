package phrase

import (
	"slices"

	"heddle/cl/internal/device"
	"heddle/engine/plan"
)

// collect adds what a round found, in any order, to the lists of its phrases. Documents with too many positions are left to the caller.
func (c *cut) collect() error {
	ends := make([]int, len(c.queries)+1)
	for i := 0; i < len(c.found); i += foundWords {
		if c.found[i] >= uint32(len(c.queries)) {
			return c.set.Device.Impossible("phrase %d of %d", c.found[i], len(c.queries))
		}
		ends[c.found[i]+1]++
	}
	for q := range c.queries {
		ends[q+1] += ends[q]
	}
	n := len(c.found) / foundWords
	keys, docs, freqs := make([]uint64, n), make([]uint32, n), make([]uint64, n)
	next := slices.Clone(ends)
	for i := 0; i < len(c.found); i += foundWords {
		q := c.found[i]
		keys[next[q]] = uint64(c.found[i+1])<<32 | uint64(c.found[i+2])
		next[q]++
	}
	err := device.InParallel(len(c.queries), 8*n, func(q int) error {
		from, to := ends[q], ends[q+1]
		p, m, own, shift := c.phrases[c.of[q]], c.made[c.of[q]], keys[from:to:to], plan.FreqBits
		if p.Kind == plan.Sloppy {
			shift = 0
		}
		if count(p) > len(p.Slots) { // earlier rounds may have documents of other lists
			for i, d := range m.Docs {
				own = append(own, uint64(d)<<32|m.Freqs[i]>>shift)
			}
			m.Docs, m.Freqs = m.Docs[:0], m.Freqs[:0]
		}
		slices.Sort(own)
		if m.Docs == nil {
			m.Docs, m.Freqs = docs[from:from:to], freqs[from:from:to]
		}
		for _, k := range own {
			if uint32(k) == long {
				m.Left = append(m.Left, uint32(k>>32))
			} else {
				m.Docs, m.Freqs = append(m.Docs, uint32(k>>32)), append(m.Freqs, uint64(uint32(k))<<shift)
			}
		}
		return nil
	})
	if c.stats.PhraseReason == "" && slices.ContainsFunc(c.of, func(p int) bool { return len(c.made[p].Left) > 0 }) {
		c.stats.PhraseReason = "documents with too many positions"
	}
	return err
}
