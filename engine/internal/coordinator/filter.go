package coordinator

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/failure"
	"heddle/engine/internal/filter"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

// filterBytes is the size of a filter in a request, about.
func filterBytes(f *filter.Filter) int {
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

// filters collects the filters of queries, and gives the request their numbers. A filter with a document that the index
// lacks is wrong.
func (s *search) filters(at []int, r *part.Request, wrong map[int]error) (all []*filter.Filter) {
	number := map[*filter.Filter]uint32{}
	for n, i := range at {
		f := s.qs[i].Filter
		if f == nil {
			continue
		}
		if number[f] == 0 {
			all = append(all, f)
			number[f] = uint32(len(all))
		}
		if err := outside(f, s.Layout.Docs); err != nil && wrong[n] == nil {
			wrong[n] = err
		}
		if r.Filter == nil {
			r.Filter = make([]uint32, len(at))
		}
		r.Filter[n] = number[f]
	}
	return all
}

// outside returns the error of a document that the index lacks.
func outside(f *filter.Filter, docs uint64) error {
	wrong := func(field string, doc uint32) error {
		return &failure.Error{Code: failure.InvalidQuery, Op: "search", Err: fmt.Errorf("filter: %s: document %d is outside of the index, which has %d documents", field, doc, docs)}
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

// FilterOf is the part of a filter on a shard, with the numbers of the shard.
func FilterOf(f *filter.Filter, s *layout.Shard) *filter.Filter {
	out := &filter.Filter{Where: f.Where}
	if f.Docs != nil {
		out.Docs = []uint32{}
		for _, d := range f.Docs {
			if id := uint64(d); id >= s.First && id < s.First+s.Docs {
				out.Docs = append(out.Docs, uint32(id-s.First))
			}
		}
	}
	if f.Bitmap != nil {
		out.Bitmap = RowsOf(f.Bitmap, s)
	}
	for _, a := range f.And {
		out.And = append(out.And, FilterOf(a, s))
	}
	return out
}

// RowsOf is the part of a bitmap on a shard, with the numbers of the shard.
func RowsOf(b *roaring.Bitmap, s *layout.Shard) *roaring.Bitmap {
	own := roaring.New()
	own.AddRange(s.First, s.First+s.Docs)
	own.And(b)
	return roaring.AddOffset64(own, -int64(s.First))
}
