package workload

import (
	"context"
	"fmt"
	"strings"

	"heddle/codec"
	"heddle/engine/plan"
)

// Layout is a way to encode all lists of a workload: every list with one codec, or
// LayoutAuto. Under the bitset codec, lists that codec.Choose would not store as a
// bitset stay raw, because a bitset of a rare term takes as much space as a bitset of a
// frequent term.
type Layout codec.ID

const (
	LayoutRaw    = Layout(codec.Raw) // "plain" in the papers
	LayoutBitset = Layout(codec.Bitset)
	LayoutAuto   = Layout(0) // codec.Choose for each list
)

// Layouts returns one layout for each codec that backends decode, and LayoutAuto.
func Layouts() (all []Layout) {
	for _, id := range codec.IDs() {
		all = append(all, Layout(id))
	}
	return append(all, LayoutAuto)
}

// String returns the name on the command line and in results.
func (l Layout) String() string {
	if l == LayoutAuto {
		return "auto"
	}
	return codec.ID(l).String()
}

// ParseLayout is the inverse of String.
func ParseLayout(s string) (Layout, error) {
	var names []string
	for _, l := range Layouts() {
		if strings.EqualFold(s, l.String()) {
			return l, nil
		}
		names = append(names, l.String())
	}
	return 0, fmt.Errorf("unknown layout %q (one of %s)", s, strings.Join(names, ", "))
}

// Codec selects the codec of one list.
func (l Layout) Codec(docs []uint32, universe uint32, opt codec.Options) codec.ID {
	switch l {
	case LayoutAuto:
		return codec.Choose(codec.Auto, docs, universe, opt).ID
	case LayoutBitset: // a bitset, or raw
		return codec.Choose(codec.Raw, docs, universe, opt).ID
	}
	return codec.ID(l)
}

// Encode encodes the lists of the workload in a layout, on all cores. The raw layout is
// the Source of the workload; other layouts are copies.
func (w *Workload) Encode(ctx context.Context, layout Layout, opt codec.Options) (*plan.Source, error) {
	if layout == LayoutRaw {
		return w.Source, nil
	}
	lists := make([][]uint32, len(w.Source.Lists))
	for h := range lists {
		lists[h] = w.List(plan.Handle(h))
	}
	return EncodeAll(ctx, w.Source.Docs, lists, opt, func(docs []uint32) codec.ID { return layout.Codec(docs, w.Source.Docs, opt) })
}

// EncodeAll encodes lists of docIDs below universe as one source. choose selects the
// codec of each list.
func EncodeAll(ctx context.Context, universe uint32, lists [][]uint32, opt codec.Options, choose func(docs []uint32) codec.ID) (*plan.Source, error) {
	src := &plan.Source{Docs: universe, Lists: make([]plan.List, len(lists))}
	encoded := make([][]uint32, len(lists))
	err := Each(ctx, len(lists), func(h int) (err error) {
		id := choose(lists[h])
		encoded[h], err = codec.Append(nil, id, lists[h], opt)
		src.Lists[h] = plan.List{Codec: id, Len: uint32(len(lists[h])), Words: uint32(len(encoded[h]))}
		return err
	})
	if err != nil {
		return nil, err
	}
	src.Words = make([]uint32, Place(src.Lists))
	for h, words := range encoded {
		copy(src.Words[src.Lists[h].Off:], words)
		encoded[h] = nil
	}
	return src, nil
}

// Universe is the smallest number of documents that contains all docIDs of the lists.
func Universe(lists [][]uint32) (universe uint32) {
	for _, l := range lists {
		if n := len(l); n > 0 {
			universe = max(universe, l[n-1]+1)
		}
	}
	return universe
}

// Always selects one codec for every list.
func Always(id codec.ID) func([]uint32) codec.ID { return func([]uint32) codec.ID { return id } }
