package cluster

import (
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/internal/layout"
)

// maxFilterDepth bounds filters inside one another.
const maxFilterDepth = 64

// checkFilter refuses filters that a coordinator cannot pass on.
func checkFilter(f *engine.Filter) error { return checkFilterAt(f, 0) }

func checkFilterAt(f *engine.Filter, depth int) error {
	switch {
	case f == nil && depth == 0:
		return nil
	case f == nil || depth > maxFilterDepth:
		return &engine.Error{Code: engine.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: a filter in And is nil, or more than %d deep", maxFilterDepth)}
	case f.Table != nil:
		return &engine.Error{Code: engine.Unsupported, Op: "search", Err: errors.New("filter: a coordinator takes Where without Table: the shards have attribute tables of their own")}
	}
	for _, a := range f.And {
		if err := checkFilterAt(a, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// filterBytes is the size of a filter in a request, about.
func filterBytes(f *engine.Filter) int {
	if f == nil {
		return 0
	}
	n := 16 + len(f.Where) + 5*len(f.Docs)
	if f.Bitmap != nil {
		n += int(f.Bitmap.GetSerializedSizeInBytes())
	}
	for _, a := range f.And {
		n += filterBytes(a)
	}
	return n
}

// filters are the filters of the queries of a request.
type filters struct {
	all     []*engine.Filter
	numbers []uint32 // by query: n is all[n-1], and 0 is none
}

// filters collects the filters of queries. A filter with a document that the index lacks is wrong.
func (s *search) filters(at []int, wrong map[int]error) (out filters) {
	number := map[*engine.Filter]uint32{}
	for n, i := range at {
		f := s.qs[i].Filter
		if f == nil {
			continue
		}
		if number[f] == 0 {
			out.all = append(out.all, f)
			number[f] = uint32(len(out.all))
		}
		if err := outside(f, s.x.layout.Docs); err != nil && wrong[n] == nil {
			wrong[n] = err
		}
		if out.numbers == nil {
			out.numbers = make([]uint32, len(at))
		}
		out.numbers[n] = number[f]
	}
	return out
}

// outside returns the error of a document that the index lacks.
func outside(f *engine.Filter, docs uint64) error {
	wrong := func(field string, doc uint32) error {
		return &engine.Error{Code: engine.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: %s: document %d is outside of the index, which has %d documents", field, doc, docs)}
	}
	if f.Bitmap != nil && !f.Bitmap.IsEmpty() && uint64(f.Bitmap.Maximum()) >= docs {
		return wrong("Filter.Bitmap", f.Bitmap.Maximum())
	}
	for _, d := range f.Docs {
		if uint64(d) >= docs {
			return wrong("Filter.Docs", d)
		}
	}
	for _, a := range f.And {
		if err := outside(a, docs); err != nil {
			return err
		}
	}
	return nil
}

// of returns the filters for a shard.
func (f *filters) of(s *layout.Shard) (all []*api.Filter) {
	for _, one := range f.all {
		all = append(all, filterOf(one, s))
	}
	return all
}

// filterOf is the part of a filter on a shard, with the numbers of the shard.
func filterOf(f *engine.Filter, s *layout.Shard) *api.Filter {
	out := &api.Filter{Where: f.Where}
	if f.Docs != nil {
		out.Docs = &api.DocumentSet{}
		for _, d := range f.Docs {
			if id := uint64(d); id >= s.First && id < s.First+s.Docs {
				out.Docs.Ids = append(out.Docs.Ids, id-s.First)
			}
		}
	}
	if f.Bitmap != nil {
		out.Roaring = partOf(f.Bitmap, s)
	}
	for _, a := range f.And {
		out.And = append(out.And, filterOf(a, s))
	}
	return out
}

// partOf is the part of a bitmap on a shard, with the numbers of the shard.
func partOf(b *roaring.Bitmap, s *layout.Shard) []byte {
	own := roaring.New()
	own.AddRange(s.First, s.First+s.Docs)
	own.And(b)
	own = roaring.AddOffset64(own, -int64(s.First))
	data, err := own.ToBytes()
	if err != nil {
		panic(err) // memory takes all bytes
	}
	return data
}
