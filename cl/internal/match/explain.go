package match

import (
	"context"
	"fmt"

	"heddle/cl/internal/lists"
	"heddle/codec"
	"heddle/engine/plan"
)

// resolve returns the algorithm whose tables a batch under a uses.
func (m *Matcher) resolve(a plan.Algorithm) plan.Algorithm {
	switch a {
	case plan.Auto:
		a = m.set.Auto
	case plan.MergePath:
		a = mergeTables
	}
	if m.set.Cache != nil && lists.TakesTables(a) {
		return plan.BS
	}
	return a
}

// tablesNow returns the tables of a for an explanation. It builds them if necessary, as a
// batch does.
func (m *Matcher) tablesNow(a plan.Algorithm) (*lists.Tables, error) {
	if err := m.set.Device.Info.Runs(a); err != nil {
		return nil, err
	}
	if err := m.set.Begin(context.Background()); err != nil {
		return nil, err
	}
	return m.set.TablesOf(context.Background(), m.resolve(a))
}

// still calls f while no term record changes.
func (m *Matcher) still(f func() string) string {
	if m.set.Cache == nil {
		return f()
	}
	return m.set.Cache.Still(f)
}

// Explain names the method for list h under a.
func (m *Matcher) Explain(a plan.Algorithm, h plan.Handle) string {
	t, err := m.tablesNow(a)
	if err != nil {
		return err.Error()
	}
	return m.still(func() string { return m.explainList(&t.Records[h], &m.set.Src.Lists[h]) })
}

func (m *Matcher) explainList(r *lists.Record, l *plan.List) string {
	text := "binary search"
	switch r.Probe() {
	case lists.ProbeBits:
		return "auxiliary bitset, one load a probe"
	case lists.ProbeOwn:
		return fmt.Sprintf("hash value to one of %d buckets, then the range that its line leaves", r.Entries())
	case lists.ProbeIS:
		text = "interpolation search"
	case lists.ProbePMF:
		if l.Codec == codec.Raw {
			text = fmt.Sprintf("parallel merge find with %d levels of splitters", r[6])
			if m.set.With&lists.UseGaps != 0 {
				text += ", or binary search in a round that searches lists of gap codecs"
			}
		}
	case lists.ProbeSeg:
		text = "binary search in a local safe range of a line"
	case lists.ProbeLine:
		text = "binary search for a segment, then in the safe range of its line"
	case lists.ProbeLR:
		text = "binary search in the safe range of a line"
	case lists.ProbeHS:
		text = fmt.Sprintf("binary search in buckets of about %d", l.Len/(r.Entries()-1))
	}
	if l.Codec == codec.Bitset {
		return "bitset, one load a probe"
	}
	switch f := lists.Lookup(l.Codec); {
	case f&lists.UseGaps != 0:
		text += ", over skip entries; a segment that may be hit is decoded once for a tile"
	case f&(lists.UseLines|lists.UseLRCPFor) != 0:
		text += ", over key docIDs, then the range that the line of one segment leaves"
	}
	return text
}

// ExplainBatch names the algorithm of b, with the reason where plan.Auto chose it.
func (m *Matcher) ExplainBatch(b *plan.MatchBatch) string {
	t, err := m.tablesNow(b.Algorithm)
	if err != nil {
		return err.Error()
	}
	return m.still(func() string { return m.explainChoice(b, t) })
}

func (m *Matcher) explainChoice(b *plan.MatchBatch, t *lists.Tables) string {
	if resolved := m.resolve(b.Algorithm); m.set.Cache != nil && lists.TakesTables(b.Algorithm) {
		return fmt.Sprintf("%v in place of %v: lists that come and go have no tables", resolved, b.Algorithm)
	} else if _, ok := b.Algorithm.Levels(); ok {
		return explainLevels(b, m.set.Src)
	} else if b.Algorithm != plan.Auto {
		return m.explainGiven(b, t.Records)
	}
	switch {
	case m.mergesAll(b, 0, t.Records):
		return fmt.Sprintf("merge: all its lists are of like length, and of %d docIDs or more (tuning row %s)",
			m.mergeLeast, m.set.Device.Tuning.Name)
	case m.set.Auto == plan.Bits:
		return "bits: bitsets and buckets fit the device"
	case m.set.Auto == plan.HS16:
		return "hs16: buckets fit the device, bitsets do not"
	}
	if m.set.Cache != nil {
		return "bs: lists that come and go have no tables"
	}
	return "bs: no tables fit the device"
}

// explainGiven names the algorithm of b, which asks for one, and what runs in place of it:
// in queries that cannot be merged, and in lists without a safe range.
func (m *Matcher) explainGiven(b *plan.MatchBatch, records []lists.Record) string {
	name := b.Algorithm.String()
	ran, other := 0, 0
	count := func(is bool) {
		if is {
			ran++
		} else {
			other++
		}
	}
	for i := range b.Queries() {
		elements, rest, _ := drivingList(b, records, i)
		switch {
		case elements.Length() == 0 || len(rest) == 0:
		case b.Algorithm == plan.MergePath:
			count(m.merges(b.Algorithm, records, elements, rest))
		case b.Algorithm == plan.LR || b.Algorithm == plan.LRSeg || b.Algorithm == plan.LRSplit:
			for _, h := range rest {
				p := records[h].Probe()
				count(p == lists.ProbeLR || p == lists.ProbeSeg || p == lists.ProbeLine)
			}
		}
	}
	switch {
	case other == 0:
		return name
	case b.Algorithm == plan.MergePath:
		return fmt.Sprintf("merge in %d queries, %v in %d, which search in compressed lists", ran, mergeTables, other)
	}
	return fmt.Sprintf("%s in %d lists, none in %d: bitsets, hash buckets, gap codecs and at most 16 docIDs have no safe range", name, ran, other)
}

// explainLevels names the algorithm of b, which asks for parallel merge find. Splitters divide
// plain lists, and only in a kernel that looks up no gap codec.
func explainLevels(b *plan.MatchBatch, src *plan.Source) string {
	plain, other, gaps := false, false, false
	for i := range b.Queries() {
		q := b.Query(i)
		for _, h := range q[min(1, len(q)):] { // the shortest list is not searched
			c := src.Lists[h].Codec
			plain = plain || c == codec.Raw
			other = other || c != codec.Raw
			gaps = gaps || lists.Lookup(c)&lists.UseGaps != 0
		}
	}
	switch {
	case !other:
		return b.Algorithm.String()
	case plain && !gaps:
		return fmt.Sprintf("%v on plain lists: splitters divide no others", b.Algorithm)
	}
	return fmt.Sprintf("no %v: splitters divide plain lists only, and none beside lists of gap codecs", b.Algorithm)
}
