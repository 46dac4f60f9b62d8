package cl

import (
	"context"
	"fmt"

	"heddle/codec"
	"heddle/engine/plan"
)

// resolve returns the algorithm whose tables a batch under a uses.
func (m *matcher) resolve(a plan.Algorithm) plan.Algorithm {
	switch a {
	case plan.Auto:
		a = m.set.auto
	case plan.MergePath:
		a = mergeTables
	}
	if m.set.cache != nil && takesTables(a) {
		return plan.BS
	}
	return a
}

// tablesNow returns the tables of a for an explanation. It builds them if necessary, as a
// batch does.
func (m *matcher) tablesNow(a plan.Algorithm) (*auxTables, error) {
	if err := m.set.rt.info.Runs(a); err != nil {
		return nil, err
	}
	if err := m.set.begin(context.Background()); err != nil {
		return nil, err
	}
	return m.set.auxOf(context.Background(), m.resolve(a))
}

// still calls f while no term record changes.
func (m *matcher) still(f func() string) string {
	if m.set.cache == nil {
		return f()
	}
	return m.set.cache.still(f)
}

// explain names the method for list h under a.
func (m *matcher) explain(a plan.Algorithm, h plan.Handle) string {
	t, err := m.tablesNow(a)
	if err != nil {
		return err.Error()
	}
	return m.still(func() string { return m.explainList(&t.records[h], &m.set.src.Lists[h]) })
}

func (m *matcher) explainList(r *record, l *plan.List) string {
	text := "binary search"
	switch r.probe() {
	case probeBits:
		return "auxiliary bitset, one load a probe"
	case probeOwn:
		return fmt.Sprintf("hash value to one of %d buckets, then the range that its line leaves", r.entries())
	case probeIS:
		text = "interpolation search"
	case probePMF:
		text = fmt.Sprintf("parallel merge find with %d levels of splitters", r[6])
	case probeSeg:
		text = "binary search in a local safe range of a line"
	case probeLR:
		text = "binary search in the safe range of a line"
	case probeHS:
		text = fmt.Sprintf("binary search in buckets of about %d", l.Len/(r.entries()-1))
	}
	if l.Codec == codec.Bitset {
		return "bitset, one load a probe"
	}
	switch f := lookup(l.Codec); {
	case f&useGaps != 0:
		text += ", over skip entries; a segment that may be hit is decoded once for a tile"
	case f == useLines:
		text += ", over key docIDs, then the range that the line of one segment leaves"
	}
	return text
}

// explainBatch names the algorithm of b, with the reason where plan.Auto chose it.
func (m *matcher) explainBatch(b *plan.MatchBatch) string {
	t, err := m.tablesNow(b.Algorithm)
	if err != nil {
		return err.Error()
	}
	return m.still(func() string { return m.explainChoice(b, t) })
}

func (m *matcher) explainChoice(b *plan.MatchBatch, t *auxTables) string {
	if resolved := m.resolve(b.Algorithm); m.set.cache != nil && takesTables(b.Algorithm) {
		return fmt.Sprintf("%v in place of %v: lists that come and go have no tables", resolved, b.Algorithm)
	} else if b.Algorithm != plan.Auto {
		return b.Algorithm.String()
	}
	switch {
	case m.mergesAll(b, 0, t.records):
		return fmt.Sprintf("merge: all its lists are of like length, and of %d docIDs or more (tuning row %s)",
			m.mergeLeast, m.set.rt.tuning.Name)
	case m.set.auto == plan.Bits:
		return "bits: bitsets and buckets fit the device"
	case m.set.auto == plan.HS16:
		return "hs16: buckets fit the device, bitsets do not"
	}
	if m.set.cache != nil {
		return "bs: lists that come and go have no tables"
	}
	return "bs: no tables fit the device"
}
