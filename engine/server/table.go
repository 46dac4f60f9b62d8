package server

import (
	"context"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/server/monitor"
	"heddle/engine/table/rowset"
)

// tableService implements api.TableServiceHandler.
type tableService struct{ s *Server }

// Count implements api.TableServiceHandler.
func (t tableService) Count(ctx context.Context, r *api.CountRequest) (*api.CountResponse, error) {
	began := time.Now()
	about := monitor.Of(ctx)
	about.Query = r.GetWhere()
	in, err := t.s.restrict(ctx, r.GetTable(), r.GetWhere(), r.GetIn())
	if err != nil {
		return nil, err
	}
	sel := engine.Selection{Where: in.where, Output: plan.OutputCounts, Caller: about.Caller, Timeout: t.s.timeout(r.GetTimeoutMs())}
	if r.GetExplain() {
		sel.Explain = new(engine.TableExplanation)
	}
	if remote := t.s.opt.Remote; remote != nil {
		rows, cover, err := remote.Select(ctx, r.GetTable(), api.Selection{Where: []string{sel.Where}, In: in.rows, Explain: r.GetExplain(),
			AllowPartial: r.GetAllowPartial(), Caller: sel.Caller, Timeout: sel.Timeout})
		if err != nil {
			return nil, err
		}
		return &api.CountResponse{Count: rows[0].Count, TookMs: milliseconds(began), Explanation: rows[0].Explanation, Coverage: cover}, nil
	}
	x, err := t.s.tables.get(r.GetTable())
	if err != nil {
		return nil, err
	}
	if sel.In, err = in.bits(x); err != nil {
		return nil, err
	}
	rows, err := x.Select(ctx, sel)
	if err != nil {
		return nil, err
	}
	out := &api.CountResponse{Count: rows.Count, TookMs: milliseconds(began)}
	if sel.Explain != nil {
		out.Explanation = sel.Explain.String()
	}
	return out, nil
}

// CountBatch implements api.TableServiceHandler.
func (t tableService) CountBatch(ctx context.Context, r *api.CountBatchRequest) (*api.CountBatchResponse, error) {
	began := time.Now()
	if err := within("batch", len(r.GetWhere()), t.s.limits().Batch); err != nil {
		return nil, err
	}
	if t.s.opt.Remote != nil {
		return t.remoteCounts(ctx, r, began)
	}
	x, err := t.s.tables.get(r.GetTable())
	if err != nil {
		return nil, err
	}
	out := &api.CountBatchResponse{Counts: make([]uint64, len(r.GetWhere()))}
	var all []engine.Selection
	var at []int
	errs := map[int]error{}
	timeout := t.s.timeout(r.GetTimeoutMs())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for i, where := range r.GetWhere() {
		s := engine.Selection{Where: where, Caller: monitor.Of(ctx).Caller, Timeout: timeout}
		p, err := x.Prepare(ctx, s)
		switch code := engine.CodeOf(err); {
		case code == engine.InvalidQuery || code == engine.Unsupported:
			errs[i] = err
		case err != nil:
			return nil, err
		default:
			s.Where, s.Prepared, s.Output = "", p, plan.OutputCounts
			all = append(all, s)
			at = append(at, i)
		}
	}
	err = x.SelectAll(ctx, all, func(first int, rows []engine.Rows) error {
		for i, row := range rows {
			out.Counts[at[first+i]] = row.Count
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out.Errors = batchErrors(errs)
	out.TookMs = milliseconds(began)
	return out, nil
}

// Select implements api.TableServiceHandler.
func (t tableService) Select(ctx context.Context, r *api.SelectRequest) (*api.SelectResponse, error) {
	began := time.Now()
	rows, err := t.s.selectRows(ctx, r, false)
	if err != nil {
		return nil, err
	}
	out := &api.SelectResponse{Count: rows.count, Rows: make([]uint64, rows.len()), Coverage: rows.coverage}
	for i := range out.Rows {
		out.Rows[i] = rows.at(i)
	}
	out.TookMs = milliseconds(began)
	return out, nil
}

// selectRows returns the rows of a request, as ranges if the answer has ranges: the limit of documents
// counts ranges then.
func (s *Server) selectRows(ctx context.Context, r *api.SelectRequest, ranges bool) (*selected, error) {
	if err := within("documents", int(r.GetLimit()), s.limits().Documents); err != nil {
		return nil, err
	}
	about := monitor.Of(ctx)
	about.Query = r.GetWhere()
	in, err := s.restrict(ctx, r.GetTable(), r.GetWhere(), r.GetIn())
	if err != nil {
		return nil, err
	}
	sel := engine.Selection{Where: in.where, Output: plan.OutputBits, Caller: about.Caller, Timeout: s.timeout(r.GetTimeoutMs())}
	if s.opt.Remote != nil {
		return s.remoteRows(ctx, r, sel, in.rows)
	}
	x, err := s.tables.get(r.GetTable())
	if err != nil {
		return nil, err
	}
	if sel.In, err = in.bits(x); err != nil {
		return nil, err
	}
	rows, err := x.Select(ctx, sel)
	if err != nil {
		return nil, err
	}
	if err := take(ctx, 8*int64(len(rows.Bits))); err != nil {
		return nil, err
	}
	most := rows.Count
	if r.Limit != nil {
		most = min(most, uint64(r.GetLimit()))
	}
	if ranges {
		all, err := rangesOf(ctx, rows.Bits, most, s.limits().Documents)
		return &selected{count: rows.Count, ranges: all}, err
	}
	if r.Limit == nil && rows.Count > uint64(s.limits().Documents) {
		return nil, &LimitError{Limit: "documents", Max: uint64(s.limits().Documents)}
	}
	if err := take(ctx, 8*int64(most)); err != nil { // with a copy in another form
		return nil, err
	}
	return &selected{count: rows.Count, ids: rowset.AppendFirst(make([]uint32, 0, most), rows.Bits, int(most))}, nil
}

// ListTables implements api.TableServiceHandler.
func (t tableService) ListTables(ctx context.Context, _ *api.ListTablesRequest) (*api.ListTablesResponse, error) {
	all, err := t.s.listTables(ctx)
	return &api.ListTablesResponse{Tables: all}, err
}

// GetTable implements api.TableServiceHandler.
func (t tableService) GetTable(ctx context.Context, r *api.GetTableRequest) (*api.Table, error) {
	if remote := t.s.opt.Remote; remote != nil {
		return remote.Table(ctx, r.GetTable())
	}
	x, err := t.s.tables.find(r.GetTable())
	if err != nil {
		return nil, err
	}
	return describeTable(x)
}

func describeTable(x *served[*engine.Table]) (*api.Table, error) {
	out := &api.Table{Name: x.name}
	now := x.now.Load()
	if !now.ready() {
		return out, nil
	}
	info, err := now.resource.Info()
	if err != nil {
		return nil, err
	}
	out.Ready, out.Rows, out.Checksum, out.Resident = true, uint64(info.Rows), hex(now.checksum), residents(info.Resident)
	for _, c := range info.Columns {
		out.Columns = append(out.Columns, &api.Column{Name: c.Name, Type: c.TypeName(), Bins: uint32(len(c.Stored().Bins)), Missing: uint64(c.Missing)})
	}
	return out, nil
}
