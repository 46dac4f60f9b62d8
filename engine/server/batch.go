package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/failure"
	"heddle/engine/internal/query"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
)

// batch is the queries of a call, with the errors of invalid queries.
type batch struct {
	queries []engine.Query
	mu      sync.Mutex
	errs    map[int]error
}

// wrong notes the error of query i.
func (b *batch) wrong(i int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.errs == nil {
		b.errs = map[int]error{}
	}
	b.errs[i] = err
}

// slice returns the queries from one number to another as a batch of their own.
func (b *batch) slice(from, to int) *batch {
	part := &batch{queries: b.queries[from:to]}
	for i, err := range b.errs {
		if from <= i && i < to {
			part.wrong(i-from, err)
		}
	}
	return part
}

// run answers the queries without an error. Deliver receives the answers of queries whose
// numbers are in at, and runs in several goroutines with different queries. Invalid queries
// join b.errs.
func (b *batch) run(ctx context.Context, x *engine.Snapshot, deliver func(at []int, hits []engine.Hits) error) error {
	at := make([]int, 0, len(b.queries))
	for i := range b.queries {
		if b.errs[i] == nil {
			at = append(at, i)
		}
	}
	valid := b.queries
	if len(at) < len(valid) || slices.ContainsFunc(valid, func(q engine.Query) bool { return q.Fields != nil }) {
		valid = make([]engine.Query, len(at))
		for n, i := range at {
			valid[n] = b.queries[i]
			valid[n].Fields = nil // deliver reads documents, piece by piece
		}
	}
	if len(valid) == 0 {
		return nil
	}
	err := x.SearchAll(ctx, valid, func(first int, hits []engine.Hits) error {
		at := at[first : first+len(hits)]
		for len(hits) > 0 {
			n := slices.IndexFunc(hits, func(h engine.Hits) bool { return h.Err != nil })
			if n < 0 {
				return deliver(at, hits)
			}
			b.wrong(at[n], hits[n].Err)
			if n > 0 {
				if err := deliver(at[:n], hits[:n]); err != nil {
					return err
				}
			}
			at, hits = at[n+1:], hits[n+1:]
		}
		return nil
	})
	if query.Invalid(err) || err != nil && b.has(err) {
		return nil // the errors are in b.errs
	}
	return err
}

// has reports whether err is the error of a query.
func (b *batch) has(err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errs {
		if e == err {
			return true
		}
	}
	return false
}

// piece is the answers of consecutive queries in flat arrays.
type piece struct {
	at     []int
	counts []uint64     // by query, if none is ranked: matching documents
	totals []*api.Total // by query, if all ask for it
	ends   []uint64     // where each query ends in ids
	ids    []uint64
	scores []float64
	docs   []string
	notes  []*api.BatchNote
	parts  []*api.Contents // by document, if all queries ask for some
	after  []string        // by query, if some have a cursor
}

// add adds the parts of documents.
func (p *piece) add(documents []engine.Contents) {
	for i := range documents {
		p.parts = append(p.parts, api.ContentsOf(&documents[i]))
	}
}

// note adds the note on a query; "" is none.
func (p *piece) note(query int, text string) {
	if text != "" {
		p.notes = append(p.notes, &api.BatchNote{Query: uint32(query), Note: text})
	}
}

// count adds the number of documents that match the next query.
func (p *piece) count(q *engine.Query, count uint64, total engine.Total) {
	if q.Total > 0 {
		p.totals = append(p.totals, totalMessage(q, total))
	} else if q.K == 0 {
		p.counts = append(p.counts, count)
	}
}

// next adds the cursor of the next page of the next query.
func (p *piece) next(r *api.SearchBatchRequest, after string) {
	if len(r.GetAfter()) > 0 {
		p.after = append(p.after, after)
	}
}

// SearchBatch implements api.IndexServiceHandler.
func (i indexService) SearchBatch(ctx context.Context, r *api.SearchBatchRequest) (*api.SearchBatchResponse, error) {
	began := time.Now()
	b, err := i.flat(ctx, r)
	if err != nil {
		return nil, err
	}
	if remote := i.s.remoteOf(r.GetIndex()); remote != nil {
		pieces, cover, err := i.remotePieces(ctx, remote, r, b)
		if err != nil {
			return nil, err
		}
		out := b.reply(ctx, pieces, !r.GetCount(), began)
		out.Coverage = cover
		return out, nil
	}
	snapshot, err := i.s.snapshot(r.GetIndex())
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	var mu sync.Mutex
	var pieces []*piece
	room := i.s.room()
	err = b.run(ctx, snapshot, func(at []int, hits []engine.Hits) error {
		found, scores := 0, 0
		for _, h := range hits {
			found, scores = found+len(h.Docs), scores+len(h.Scores)
		}
		if err := room.take(found); err != nil {
			return err
		}
		if err := problem.Take(ctx, flatBytes(found, r.GetNames())); err != nil {
			return err
		}
		p := &piece{at: make([]int, 0, len(hits)), ends: make([]uint64, 0, len(hits)), ids: make([]uint64, 0, found), scores: make([]float64, 0, scores)}
		for n, h := range hits {
			if q := &b.queries[at[n]]; q.Fields != nil {
				all, err := documents(ctx, snapshot, q, h.Docs)
				if failure.OfQuery(err) {
					b.wrong(at[n], err)
					continue
				}
				if err != nil {
					return err
				}
				p.add(all)
			}
			p.at = append(p.at, at[n])
			p.note(at[n], snapshot.Note(b.queries[at[n]], h.Count > 0))
			p.count(&b.queries[at[n]], h.Count, h.Total)
			p.next(r, h.After)
			for _, d := range h.Docs {
				p.ids = append(p.ids, uint64(d))
				if r.GetNames() {
					name, err := docName(snapshot.File(), d)
					if err != nil {
						return err
					}
					p.docs = append(p.docs, name)
				}
			}
			p.scores = append(p.scores, h.Scores...)
			p.ends = append(p.ends, uint64(len(p.ids)))
		}
		mu.Lock()
		defer mu.Unlock()
		if len(p.at) > 0 {
			pieces = append(pieces, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.reply(ctx, pieces, !r.GetCount(), began), nil
}

// flatBytes is the memory of documents in flat arrays, in pieces and in the answer.
func flatBytes(documents int, names bool) int64 {
	if names {
		return 80 * int64(documents)
	}
	return 32 * int64(documents)
}

// reply returns the answers of a batch in the order of its queries.
func (b *batch) reply(ctx context.Context, pieces []*piece, documents bool, began time.Time) *api.SearchBatchResponse {
	out := join(pieces, len(b.queries), documents)
	out.Errors = batchErrors(ctx, b.errs)
	out.TookMs = milliseconds(began)
	return out
}

// flat returns the queries of a batch.
func (i indexService) flat(ctx context.Context, r *api.SearchBatchRequest) (*batch, error) {
	if err := problem.Within("batch", len(r.GetQueries()), i.s.limits().Batch); err != nil {
		return nil, err
	}
	common, err := i.s.query(ctx, r.GetIndex(), &api.MatchRequest{Literal: r.GetLiteral(), Mode: r.GetMode(), Filter: r.GetFilter(), Expand: r.GetExpand(), PrefixLength: r.GetPrefixLength(), QueryFields: r.GetQueryFields()}, r.GetTimeoutMs())
	aboutBatch(ctx, r.GetIndex(), len(r.GetQueries()))
	if err == nil {
		common.Fields, err = i.s.fields(r.GetIndex(), r, nil)
	}
	mode := common.Match
	if err == nil {
		err = i.s.kind(&common, r, r.K, r.GetTotal(), r.GetScoring(), r.GetStatistics(), nil)
	}
	if err == nil {
		err = i.s.page(&common, r.GetIndex(), r, "")
	}
	if err == nil {
		err = combine(&common, r.Tie, r.GetExpandScore())
	}
	if err != nil {
		return nil, err
	}
	if n := len(r.GetAfter()); n > 0 && n != len(r.GetQueries()) {
		return nil, problem.BadRequest(fmt.Errorf("after has %d cursors, want one for each of the %d queries", n, len(r.GetQueries())))
	}
	if err := problem.Take(ctx, queryBytes*int64(len(r.GetQueries()))); err != nil {
		return nil, err
	}
	b := &batch{queries: make([]engine.Query, len(r.GetQueries()))}
	for n, text := range r.GetQueries() {
		b.queries[n] = common
		q := &b.queries[n]
		if q.Text = text; q.Match != mode {
			q.Match = countMode(q)
		}
		err := i.s.read(ctx, r.GetIndex(), q)
		if err == nil && len(r.GetAfter()) > 0 {
			err = i.s.page(q, r.GetIndex(), r, r.GetAfter()[n])
		}
		if err != nil {
			b.wrong(n, err)
		}
	}
	return b, nil
}

// room counts the documents of an answer.
type room struct {
	left atomic.Int64
	max  int
}

func (s *Server) room() *room {
	r := &room{max: s.limits().Documents}
	r.left.Store(int64(r.max))
	return r
}

func (r *room) take(documents int) error {
	if r.left.Add(-int64(documents)) < 0 {
		return &problem.LimitError{Limit: "documents", Max: uint64(r.max)}
	}
	return nil
}

// join joins the pieces of a batch in the order of its queries.
func join(pieces []*piece, queries int, documents bool) *api.SearchBatchResponse {
	slices.SortFunc(pieces, func(a, b *piece) int { return a.at[0] - b.at[0] })
	out := &api.SearchBatchResponse{}
	if documents {
		out.Ends = make([]uint64, queries)
	}
	ids, scores := 0, 0
	for _, p := range pieces {
		ids, scores = ids+len(p.ids), scores+len(p.scores)
	}
	out.Ids, out.Scores = slices.Grow(out.Ids, ids), slices.Grow(out.Scores, scores)
	next := 0 // query
	for _, p := range pieces {
		if p.counts != nil && out.Counts == nil {
			out.Counts = make([]uint64, queries)
		}
		if p.totals != nil && out.Totals == nil {
			out.Totals = make([]*api.Total, queries)
			for i := range out.Totals {
				out.Totals[i] = new(api.Total) // stays for an invalid query
			}
		}
		if p.after != nil && out.After == nil {
			out.After = make([]string, queries)
		}
		base := uint64(len(out.Ids))
		for n, q := range p.at {
			if out.Counts != nil {
				out.Counts[q] = p.counts[n]
			}
			if out.Totals != nil {
				out.Totals[q] = p.totals[n]
			}
			if out.After != nil {
				out.After[q] = p.after[n]
			}
			if !documents {
				continue
			}
			for ; next < q; next++ { // invalid queries
				out.Ends[next] = base
				if n > 0 {
					out.Ends[next] += p.ends[n-1]
				}
			}
			out.Ends[q] = base + p.ends[n]
			next = q + 1
		}
		out.Ids = append(out.Ids, p.ids...)
		out.Scores = append(out.Scores, p.scores...)
		out.Docs = append(out.Docs, p.docs...)
		out.Contents = append(out.Contents, p.parts...)
		out.Notes = append(out.Notes, p.notes...)
	}
	for ; documents && next < queries; next++ {
		out.Ends[next] = uint64(len(out.Ids))
	}
	return out
}

// batchErrors describes the errors of a batch in the order of its queries, and counts them.
func batchErrors(ctx context.Context, errs map[int]error) (out []*api.BatchError) {
	monitor.Of(ctx).Errors = len(errs)
	for i, err := range errs {
		e, _, _ := problem.Describe(err, "")
		out = append(out, &api.BatchError{Query: uint32(i), Error: e})
	}
	slices.SortFunc(out, func(a, b *api.BatchError) int { return int(a.GetQuery()) - int(b.GetQuery()) })
	return out
}
