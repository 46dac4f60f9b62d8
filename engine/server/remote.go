package server

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/file/mapped"
	"heddle/engine/index/analyze"
	"heddle/engine/internal/fetch"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
	"heddle/engine/server/rows"
	"heddle/engine/table/values"
)

// Remote answers the queries of a server whose indexes and tables lie elsewhere, such as in the
// shards of a cluster. It is safe for concurrent use.
type Remote interface {
	// List returns the names of all indexes and tables, in order.
	List(ctx context.Context) (indexes, tables []string, err error)
	// Index and Table describe an index and a table. The error of an unknown name has code NotFound.
	Index(ctx context.Context, name string) (*api.Index, error)
	Table(ctx context.Context, name string) (*api.Table, error)
	// SearchAll answers queries on an index: hits[i] is the answer of query i. The coverage is nil
	// unless ask.AllowPartial.
	SearchAll(ctx context.Context, index string, qs []engine.Query, ask api.Ask) (hits []api.Hits, cover *api.Coverage, err error)
	// Document returns the document with a name, and its number. The error of an unknown name has code NotFound.
	Document(ctx context.Context, index, name string, ask *fetch.Ask) (id uint64, d engine.Contents, err error)
	// ListDocuments returns the numbers and names of documents from a number on, at most a number of them, and the
	// number behind them; 0 if there is none.
	ListDocuments(ctx context.Context, index string, from uint64, most int) (ids []uint64, names []string, next uint64, err error)
	// Suggest and Corrections propose terms of an index: see engine.Index.Suggest and engine.Snapshot.Corrections.
	Suggest(ctx context.Context, index, prefix string, most int) ([]engine.Suggestion, error)
	Corrections(ctx context.Context, index string, q engine.Query) ([]engine.Correction, error)
	// ExplainScore returns the score that a query gives to a document, and the name of the document: see
	// engine.Snapshot.ExplainScore.
	ExplainScore(ctx context.Context, index string, q engine.Query, id uint64) (w *engine.ScoreExplanation, name string, err error)
	// Analysis returns the analysis of an index, and whether it has the positions of words.
	Analysis(ctx context.Context, index string) (s analyze.Settings, positions bool, err error)
	// Statistics returns the statistics of an index.
	Statistics(ctx context.Context, index string, terms ...string) (engine.Statistics, error)
	// Select answers predicates on a table. The error of a single predicate is the error of the
	// call. The coverage is nil unless s.AllowPartial.
	Select(ctx context.Context, table string, s api.Selection) (rows []api.Rows, cover *api.Coverage, err error)
	// Aggregate answers an aggregation on a table. The coverage is nil unless a.AllowPartial.
	Aggregate(ctx context.Context, table string, a api.Aggregation) (b values.Batch, explanation string, cover *api.Coverage, err error)
}

// remoteOf returns the remote that has an index; nil for an index of this server.
func (s *Server) remoteOf(index string) Remote {
	if s.opt.Remote != nil {
		return s.opt.Remote
	}
	if _, err := s.indexes.Find(index); err == nil {
		return nil
	}
	return s.opt.Collections
}

// answer asks the remote that has an index, or a snapshot of the index of this server.
func answer[T any](s *Server, index string, there func(Remote) (T, error), here func(*engine.Snapshot) (T, error)) (out T, err error) {
	if r := s.remoteOf(index); r != nil {
		return there(r)
	}
	x, err := s.snapshot(index)
	if err != nil {
		return out, err
	}
	defer x.Close()
	defer mapped.Catch(mapped.Watch(), &err)
	return here(x)
}

// isCollection reports whether a name belongs to a collection.
func (s *Server) isCollection(index string) bool {
	if s.opt.Collections == nil {
		return false
	}
	names, _, err := s.opt.Collections.List(context.Background()) // from memory
	return err == nil && slices.Contains(names, index)
}

// remote answers the valid queries of a batch. The answers of invalid queries have no documents.
func (b *batch) remote(ctx context.Context, r Remote, index string, ask api.Ask) ([]api.Hits, *api.Coverage, error) {
	valid, at := b.queries, []int(nil)
	if len(b.errs) > 0 {
		valid = nil
		for i, q := range b.queries {
			if b.errs[i] == nil {
				valid, at = append(valid, q), append(at, i)
			}
		}
	}
	var hits []api.Hits
	var cover *api.Coverage
	if len(valid) > 0 {
		var err error
		if hits, cover, err = r.SearchAll(ctx, index, valid, ask); err != nil {
			return nil, nil, err
		}
	}
	if len(valid) < len(b.queries) {
		all := make([]api.Hits, len(b.queries))
		for n, i := range at {
			all[i] = hits[n]
		}
		hits = all
	}
	for i := range hits {
		if hits[i].Err != nil {
			b.wrong(i, hits[i].Err)
		}
	}
	return hits, cover, nil
}

// remotePieces returns the answers of a batch in flat arrays: a piece, unless all queries are invalid.
func (i indexService) remotePieces(ctx context.Context, remote Remote, r *api.SearchBatchRequest, b *batch) (pieces []*piece, cover *api.Coverage, err error) {
	hits, cover, err := b.remote(ctx, remote, r.GetIndex(), api.Ask{Names: r.GetNames(), AllowPartial: r.GetAllowPartial(), Take: taking(ctx)})
	if err != nil {
		return nil, nil, err
	}
	found, scores := 0, 0
	for n := range hits {
		if b.errs[n] == nil {
			found, scores = found+len(hits[n].IDs), scores+len(hits[n].Scores)
		}
	}
	if err := i.s.room().take(found); err != nil {
		return nil, nil, err
	}
	if err := problem.Take(ctx, flatBytes(found, r.GetNames())); err != nil {
		return nil, nil, err
	}
	p := &piece{at: make([]int, 0, len(hits)), ends: make([]uint64, 0, len(hits)), ids: make([]uint64, 0, found), scores: make([]float64, 0, scores)}
	for n := range hits {
		if b.errs[n] != nil {
			continue
		}
		h := &hits[n]
		p.at, p.ids, p.scores = append(p.at, n), append(p.ids, h.IDs...), append(p.scores, h.Scores...)
		p.ends = append(p.ends, uint64(len(p.ids)))
		if r.GetNames() {
			p.docs = append(p.docs, h.Names...)
		}
		p.add(h.Documents)
		p.count(&b.queries[n], h.Count, h.Total)
		p.next(r, h.After)
		p.note(n, h.Note)
	}
	if len(p.at) > 0 {
		pieces = append(pieces, p)
	}
	return pieces, cover, nil
}

// remoteCounts answers CountBatch.
func (t tableService) remoteCounts(ctx context.Context, r *api.CountBatchRequest, began time.Time) (*api.CountBatchResponse, error) {
	rows, cover, err := t.s.opt.Remote.Select(ctx, r.GetTable(), api.Selection{Where: r.GetWhere(), AllowPartial: r.GetAllowPartial(),
		Caller: monitor.Of(ctx).Caller, Timeout: t.s.timeout(r.GetTimeoutMs())})
	if code := engine.CodeOf(err); len(r.GetWhere()) == 1 && (code == engine.InvalidQuery || code == engine.Unsupported) {
		rows, err = []api.Rows{{Err: err}}, nil
	}
	if err != nil {
		return nil, err
	}
	counts, errs := make([]uint64, len(rows)), map[int]error{}
	for i, row := range rows {
		if counts[i] = row.Count; row.Err != nil {
			counts[i], errs[i] = 0, row.Err
		}
	}
	return &api.CountBatchResponse{Counts: counts, Errors: batchErrors(ctx, errs), TookMs: milliseconds(began), Coverage: cover}, nil
}

// remoteRows returns the rows of a selection.
func (s *Server) remoteRows(ctx context.Context, r *api.SelectRequest, sel engine.Selection, in *roaring.Bitmap) (*rows.Answer, error) {
	limit := uint64(s.limits().Documents) + 1
	if r.Limit != nil {
		limit = uint64(r.GetLimit())
	}
	found, cover, err := s.opt.Remote.Select(ctx, r.GetTable(), api.Selection{Where: []string{sel.Where}, In: in, Rows: limit > 0, Limit: limit,
		AllowPartial: r.GetAllowPartial(), Caller: sel.Caller, Timeout: sel.Timeout})
	if err != nil {
		return nil, err
	}
	if r.Limit == nil && found[0].Count > uint64(s.limits().Documents) {
		return nil, &problem.LimitError{Limit: "documents", Max: uint64(s.limits().Documents)}
	}
	if err := problem.Take(ctx, 12*int64(len(found[0].IDs))); err != nil {
		return nil, err
	}
	out := &rows.Answer{Count: found[0].Count, Large: found[0].IDs, Coverage: cover}
	if n := len(out.Large); n > 0 && out.Large[n-1] > math.MaxUint32 {
		return out, nil
	}
	out.IDs = make([]uint32, len(out.Large))
	for i, row := range out.Large {
		out.IDs[i] = uint32(row)
	}
	out.Large = nil
	return out, nil
}

// remoteValues answers an aggregation.
func (s *Server) remoteValues(ctx context.Context, r *api.AggregateRequest, a *engine.Aggregation, in *roaring.Bitmap) (*aggregated, error) {
	b, explanation, cover, err := s.opt.Remote.Aggregate(ctx, r.GetTable(), api.Aggregation{Select: a.Select, Where: a.Rows.Where, In: in, GroupBy: a.GroupBy, OrderBy: a.OrderBy,
		Offset: a.Offset, Limit: a.Limit, Explain: r.GetExplain(), AllowPartial: r.GetAllowPartial(), Caller: a.Rows.Caller, Timeout: a.Rows.Timeout})
	if r.Limit != nil {
		b = b.Cut(0, min(b.Len(), int(r.GetLimit())))
	}
	if err == nil {
		err = problem.Within("documents", b.Len(), s.limits().Documents)
	}
	if err == nil {
		err = problem.Take(ctx, cellBytes*int64(b.Len()*len(b)))
	}
	if err != nil {
		return nil, err
	}
	return &aggregated{[]values.Batch{b}, explanation, cover}, nil
}

// coverageHeader describes a partial answer in forms of answers that have no place for it.
const coverageHeader = "Heddle-Coverage"

// setCoverage adds the header to an answer that may be partial.
func setCoverage(to http.Header, cover *api.Coverage) {
	if cover != nil {
		to.Set(coverageHeader, string(api.AppendJSON(nil, cover)))
	}
}

// listIndexes describes all indexes.
func (s *Server) listIndexes(ctx context.Context) (all []*api.Index, err error) {
	if r := s.opt.Remote; r != nil {
		names, _, err := r.List(ctx)
		return describeAll(ctx, names, err, r.Index)
	}
	for _, x := range s.indexes.List() {
		one, err := describeIndex(x)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if r := s.opt.Collections; r != nil {
		names, _, err := r.List(ctx)
		more, err := describeAll(ctx, names, err, r.Index)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
		slices.SortFunc(all, func(a, b *api.Index) int { return strings.Compare(a.GetName(), b.GetName()) })
	}
	return all, nil
}

// listTables describes all tables.
func (s *Server) listTables(ctx context.Context) (all []*api.Table, err error) {
	if r := s.opt.Remote; r != nil {
		_, names, err := r.List(ctx)
		return describeAll(ctx, names, err, r.Table)
	}
	for _, x := range s.tables.List() {
		one, err := describeTable(x)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// describeAll describes the indexes or tables of a remote. It leaves out names that are gone.
func describeAll[T any](ctx context.Context, names []string, err error, describe func(context.Context, string) (T, error)) (all []T, _ error) {
	for _, name := range names {
		one, err := describe(ctx, name)
		if engine.CodeOf(err) == engine.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, err
}

// hasIndex returns nil if an index answers queries.
func (s *Server) hasIndex(ctx context.Context, name string) error {
	if r := s.remoteOf(name); r != nil {
		x, err := r.Index(ctx, name)
		return whole("index", name, x.GetReady(), err)
	}
	_, err := s.indexes.Get(name)
	return err
}

// hasTable returns nil if a table answers queries.
func (s *Server) hasTable(ctx context.Context, name string) error {
	if r := s.opt.Remote; r != nil {
		x, err := r.Table(ctx, name)
		return whole("table", name, x.GetReady(), err)
	}
	_, err := s.tables.Get(name)
	return err
}

func whole(kind, name string, ready bool, err error) error {
	if err == nil && !ready {
		err = &engine.Error{Code: engine.Closed, Op: "find " + kind, Err: fmt.Errorf("%s %s has shards that do not answer", kind, name)}
	}
	return err
}
