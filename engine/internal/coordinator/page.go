package coordinator

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"heddle/engine/failure"
	"heddle/engine/internal/order"
	"heddle/engine/internal/part"
)

// generation names the epoch and its content in cursors: other indexes, and an index that was made anew, have the same
// epochs.
func (x *Collection) generation() string {
	x.once.Do(func() {
		sum := fnv.New64a()
		fmt.Fprintln(sum, x.Layout.Name)
		for i := range x.Layout.Shards {
			fmt.Fprintln(sum, x.Layout.Shards[i].SHA256, x.Layout.Shards[i].Deleted)
		}
		x.content = fmt.Sprintf("epoch %d %016x", x.Layout.Epoch, sum.Sum64())
	})
	return x.content
}

// orders reads the cursors of the queries. A query with an order and no other part is for all documents. The error of a
// cursor of a later epoch wraps part.ErrEpoch if the map has not been read again.
func (s *search) orders(readAgain bool) error {
	s.order = make([]*order.Spec, len(s.qs))
	for i := range s.qs {
		q := &s.qs[i]
		if q.Fault != nil {
			s.fault(i, q.Fault)
		}
		if q.Order == nil || q.Fault != nil {
			continue
		}
		own := *q.Order
		if q.After != "" {
			if err := own.ReadCursor(q.After, s.generation()); err != nil {
				if failure.CodeOf(err) == failure.Gone && !readAgain && s.newer(q.After) {
					return fmt.Errorf("a cursor of a later epoch: %w", part.ErrEpoch)
				}
				s.fault(i, err)
				continue
			}
		}
		if !own.Whole() {
			s.order[i] = &own
		}
	}
	return nil
}

// fault notes why a query is invalid.
func (s *search) fault(i int, err error) {
	if s.wrong == nil {
		s.wrong = map[int]error{}
	}
	s.wrong[i] = failure.Wrap("search", err)
}

// newer reports whether a cursor belongs to a later epoch.
func (s *search) newer(cursor string) bool {
	text, ok := strings.CutPrefix(order.GenerationOf(cursor), "epoch ")
	text, _, _ = strings.Cut(text, " ")
	n, err := strconv.ParseUint(text, 10, 64)
	return ok && err == nil && n > s.Layout.Epoch
}

// pages leaves out the documents before each page, and sets the cursors of the next pages.
func (s *search) pages() {
	for i := range s.qs {
		q, h := &s.qs[i], &s.hits[i]
		if q.CountOnly && s.order[i] != nil && h.Err == nil {
			*h = Hits{Count: h.Total.Value, Total: h.Total, Explanation: h.Explanation}
		}
		if q.K == 0 || h.Err != nil {
			continue
		}
		if n := min(q.Offset, len(h.IDs)); n > 0 {
			h.IDs, h.Scores = h.IDs[n:], h.Scores[n:]
			if h.Count = uint64(len(h.IDs)); h.Names != nil {
				h.Names = h.Names[n:]
			}
		}
		n := len(h.IDs)
		if q.After == "" || n < q.K || n == 0 {
			continue
		}
		if h.last == nil {
			h.last = &order.Place{Score: h.Scores[n-1], Doc: h.IDs[n-1]}
		}
		spec := q.Order
		if spec == nil {
			spec = &order.Spec{}
		}
		h.After = spec.Cursor(s.generation(), h.last)
	}
}
