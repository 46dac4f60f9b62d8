package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"heddle/engine/failure"
	"heddle/engine/internal/fetch"
	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
	"heddle/engine/syntax"
)

// mostFetched is the number of documents of a request for documents.
const mostFetched = 1000

// place is the place of a document in the answers: hit of query. Of is the query in the request.
type place struct {
	id             uint64
	query, hit, of int
}

// fetch adds documents to the answers of queries that ask for them, those with one Ask together.
func (s *search) fetch(ctx context.Context) error {
	var asks []*fetch.Ask
	for i := range s.qs {
		if a := s.qs[i].Fetch; a != nil && !slices.Contains(asks, a) {
			asks = append(asks, a)
		}
	}
	for _, a := range asks {
		err := s.fetchFor(ctx, a)
		if failure.OfQuery(err) {
			for i := range s.qs {
				if s.qs[i].Fetch == a && s.hits[i].Err == nil {
					s.hits[i] = Hits{Err: err}
				}
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// fetchFor adds documents to the answers of the queries that have an Ask.
func (s *search) fetchFor(ctx context.Context, a *fetch.Ask) error {
	r := &fetch.Request{Ask: *a}
	r.Take = s.ask.Take
	var all []place
	for i := range s.qs {
		q, h := &s.qs[i], &s.hits[i]
		if q.Fetch != a || len(h.IDs) == 0 {
			continue
		}
		if h.Names = make([]string, len(h.IDs)); r.Snippet != nil {
			r.Queries = append(r.Queries, fetch.Query{Text: q.Text, Literal: q.Literal, Terms: q.Terms, Fixed: q.Expansion.Fixed})
		}
		h.Documents = make([]fetch.Document, len(h.IDs))
		for n, id := range h.IDs {
			all = append(all, place{id, i, n, len(r.Queries) - 1})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return cmp.Compare(a.id, b.id) })
	for part := range slices.Chunk(all, mostFetched) {
		if err := s.fetchPart(ctx, r, part); err != nil {
			return err
		}
	}
	return nil
}

// fetchPart adds the documents of places, which ascend by id.
func (s *search) fetchPart(ctx context.Context, r *fetch.Request, places []place) error {
	m := s.Layout
	lists, first := make([]fetch.List, len(m.Shards)), make([]int, len(m.Shards)) // by shard: documents, and their first place
	f := Fan{Size: 1, Groups: true, Shards: []int{}}
	for i, p := range places {
		n := m.Find(p.id)
		l := &lists[n]
		if len(l.Docs) == 0 {
			f.Shards, first[n] = append(f.Shards, n), i
		}
		if l.Docs = append(l.Docs, uint32(p.id-m.Shards[n].First)); r.Snippet != nil {
			l.Of = append(l.Of, uint32(p.of))
		}
	}
	whole := s.Reach
	whole.Partial = false // a hit without its document is no answer
	pieces, err := Spread(ctx, &whole, f, func(ctx context.Context, f *Fan) ([]Piece[[]fetch.Document], []error) {
		return s.c.shards.Documents(ctx, f, r, lists)
	})
	if err != nil {
		return err
	}
	for _, p := range pieces {
		rest := p.Answer
		for _, n := range p.Shards {
			for i := range lists[n].Docs {
				at := places[first[n]+i]
				h := &s.hits[at.query]
				h.Documents[at.hit], h.Names[at.hit] = rest[i], rest[i].Name
			}
			rest = rest[len(lists[n].Docs):]
		}
	}
	return nil
}

// Document returns the document with a name, and its number: of several the first one. An unknown name is an error with code NotFound.
func (c *Coordinator) Document(ctx context.Context, index, name string, r *fetch.Ask) (id uint64, d fetch.Document, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		s := &search{run: run{c, Reach{Collection: x}}}
		pieces, err := Spread(ctx, &s.Reach, Fan{}, func(ctx context.Context, f *Fan) ([]Piece[Found], []error) { return c.shards.Find(ctx, f, name) })
		if err != nil {
			return err
		}
		at := slices.IndexFunc(pieces, func(p Piece[Found]) bool { return p.Answer.OK })
		if at < 0 {
			return NoDocument(index, name)
		}
		id = x.Layout.Shards[pieces[at].Shards[0]].First + uint64(pieces[at].Answer.Doc)
		s.hits = make([]Hits, 1)
		s.hits[0].Names, s.hits[0].Documents = make([]string, 1), make([]fetch.Document, 1)
		err = s.fetchPart(ctx, &fetch.Request{Ask: *r, Queries: []fetch.Query{{}}}, []place{{id: id}})
		d = s.hits[0].Documents[0]
		return err
	})
	return id, d, err
}

// NoDocument is the error of an unknown name.
func NoDocument(index, name string) error {
	return &failure.Error{Code: failure.NotFound, Op: "find document", Err: fmt.Errorf("index %s has no document named %s", syntax.Quote(index), syntax.Quote(name))}
}

// List returns the numbers and names of documents from a number on, at most a number of them, and the number behind them; 0
// if there is none.
func (c *Coordinator) List(ctx context.Context, index string, from uint64, most int) (ids []uint64, names []string, next uint64, err error) {
	ctx, cancel := c.Deadline(ctx, 0)
	defer cancel()
	err = c.Run(ctx, index, layout.Index, func(ctx context.Context, x *Collection) error {
		ids, names, next = nil, nil, 0
		for i := range x.Layout.Shards {
			s := &x.Layout.Shards[i]
			if from >= s.First+s.Docs {
				continue
			}
			first := uint32(min(max(from, s.First)-s.First, math.MaxUint32))
			pieces, err := Spread(ctx, &Reach{Collection: x}, Fan{Shards: []int{i}}, func(ctx context.Context, f *Fan) ([]Piece[[]part.Listed], []error) {
				return c.shards.List(ctx, f, first, most+1-len(ids))
			})
			if err != nil {
				return err
			}
			for _, p := range pieces {
				for _, l := range p.Answer {
					if len(ids) == most {
						next = s.First + uint64(l.Doc)
						return nil
					}
					ids, names = append(ids, s.First+uint64(l.Doc)), append(names, l.Name)
				}
			}
		}
		return nil
	})
	return ids, names, next, err
}
