package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/codec"
	"heddle/engine/plan"
)

// Layout is a way of encoding all lists of a workload.
type Layout uint8

const (
	LayoutRaw      Layout = iota // every list raw: "plain" in the papers
	LayoutBitset                 // bitset where codec.Choose takes it, else raw
	LayoutParaPFor               // every list parapfor
	LayoutAuto                   // codec.Choose for every list
)

var layoutNames = [...]string{"raw", "bitset", "parapfor", "auto"}

// Layouts returns all of them.
func Layouts() []Layout { return []Layout{LayoutRaw, LayoutBitset, LayoutParaPFor, LayoutAuto} }

// String gives the name that command line and results use.
func (l Layout) String() string { return layoutNames[l] }

// ParseLayout is the inverse of String.
func ParseLayout(s string) (Layout, error) {
	if i := slices.Index(layoutNames[:], strings.ToLower(s)); i >= 0 {
		return Layout(i), nil
	}
	return 0, fmt.Errorf("unknown layout %q (one of %s)", s, strings.Join(layoutNames[:], ", "))
}

// codec names the codec of one list.
func (l Layout) codec(docs []uint32, universe uint32) codec.ID {
	switch l {
	case LayoutParaPFor:
		return codec.ParaPFor
	case LayoutBitset:
		if codec.Choose(docs, universe, codec.DefaultOptions()) == codec.Bitset {
			return codec.Bitset
		}
	case LayoutAuto:
		return codec.Choose(docs, universe, codec.DefaultOptions())
	}
	return codec.Raw
}

// Encode gives the lists of the workload in a layout, on all cores. Raw is the
// workload's own Source; the others are a copy.
func (w *Workload) Encode(ctx context.Context, layout Layout) (*plan.Source, error) {
	if layout == LayoutRaw {
		return w.Source, nil
	}
	opt := codec.DefaultOptions()
	lists := make([]plan.List, len(w.Source.Lists))
	err := parallel(ctx, len(lists), func(_ *scratch, h int) error {
		docs := w.List(plan.Handle(h))
		id := layout.codec(docs, w.Source.Docs)
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
