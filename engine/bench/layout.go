package bench

import (
	"context"
	"fmt"
	"strings"

	"heddle/codec"
	"heddle/engine/plan"
)

// Layout is a way of encoding all lists of a workload: every list by one codec,
// or LayoutAuto. Under the bitset codec only the lists that codec.Choose gives a
// bitset have one and the others are raw: a bitset of a rare term takes as much
// as one of a frequent term.
type Layout codec.ID

const (
	LayoutRaw    = Layout(codec.Raw) // "plain" in the papers
	LayoutBitset = Layout(codec.Bitset)
	LayoutAuto   = Layout(0) // codec.Choose for every list
)

// Layouts returns one for each codec that backends run, and LayoutAuto.
func Layouts() (all []Layout) {
	for _, id := range codec.IDs() {
		all = append(all, Layout(id))
	}
	return append(all, LayoutAuto)
}

// String gives the name that command line and results use.
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

// codec names the codec of one list.
func (l Layout) codec(docs []uint32, universe uint32, opt codec.Options) codec.ID {
	switch l {
	case LayoutAuto:
		return codec.Choose(codec.Auto, docs, universe, opt).ID
	case LayoutBitset:
		if codec.Choose(codec.Auto, docs, universe, opt).ID != codec.Bitset {
			return codec.Raw
		}
	}
	return codec.ID(l)
}

// Encode gives the lists of the workload in a layout, on all cores. Raw is the
// workload's own Source; the others are a copy.
func (w *Workload) Encode(ctx context.Context, layout Layout, opt codec.Options) (*plan.Source, error) {
	if layout == LayoutRaw {
		return w.Source, nil
	}
	lists := make([]plan.List, len(w.Source.Lists))
	err := parallel(ctx, len(lists), func(_ *scratch, h int) error {
		docs := w.List(plan.Handle(h))
		id := layout.codec(docs, w.Source.Docs, opt)
		lists[h] = plan.List{Codec: id, Len: uint32(len(docs)), Words: uint32(codec.Size(id, docs, opt))}
		return nil
	})
	if err != nil {
		return nil, err
	}
	words := make([]uint32, place(lists))
	err = parallel(ctx, len(lists), func(_ *scratch, h int) error {
		l := lists[h]
		end := l.Off + uint64(l.Words)
		got, err := codec.Append(words[l.Off:l.Off:end], l.Codec, w.List(plan.Handle(h)), opt)
		if err == nil && len(got) != int(l.Words) {
			err = fmt.Errorf("bench: list %d takes %d words as %v, its size was said to be %d", h, len(got), l.Codec, l.Words)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &plan.Source{Docs: w.Source.Docs, Lists: lists, Words: words}, nil
}
