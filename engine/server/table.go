package server

import (
	"context"
	"maps"
	"slices"
	"time"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// tableService implements api.TableServiceHandler.
type tableService struct{ s *Server }

// Count implements api.TableServiceHandler.
func (t tableService) Count(ctx context.Context, r *api.CountRequest) (*api.CountResponse, error) {
	began := time.Now()
	x, err := t.s.table(r.GetTable())
	if err != nil {
		return nil, err
	}
	sel := engine.Selection{Where: r.GetWhere(), Output: plan.OutputCounts, Caller: caller(ctx), Timeout: t.s.timeout(r.GetTimeoutMs())}
	if r.GetExplain() {
		sel.Explain = new(engine.TableExplanation)
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
	if err := within("batch", len(r.GetWhere()), t.s.opt.Limits.Batch); err != nil {
		return nil, err
	}
	x, err := t.s.table(r.GetTable())
	if err != nil {
		return nil, err
	}
	out := &api.CountBatchResponse{Counts: make([]uint64, len(r.GetWhere()))}
	var all []engine.Selection
	var at []int
	errs := map[int]error{}
	for i, where := range r.GetWhere() {
		p, err := x.Prepare(where)
		switch code := engine.CodeOf(err); {
		case code == engine.InvalidQuery || code == engine.Unsupported:
			errs[i] = err
		case err != nil:
			return nil, err
		default:
			all = append(all, engine.Selection{Prepared: p, Output: plan.OutputCounts, Caller: caller(ctx), Timeout: t.s.timeout(r.GetTimeoutMs())})
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
	rows, ids, err := t.s.selectRows(ctx, r, caller(ctx))
	if err != nil {
		return nil, err
	}
	out := &api.SelectResponse{Count: rows.Count, Rows: make([]uint64, len(ids))}
	for i, id := range ids {
		out.Rows[i] = uint64(id)
	}
	out.TookMs = milliseconds(began)
	return out, nil
}

// selectRows returns the rows of a request as a bitset, and the first rows as numbers.
func (s *Server) selectRows(ctx context.Context, r *api.SelectRequest, caller string) (engine.Rows, []uint32, error) {
	if err := within("documents", int(r.GetLimit()), s.opt.Limits.Documents); err != nil {
		return engine.Rows{}, nil, err
	}
	x, err := s.table(r.GetTable())
	if err != nil {
		return engine.Rows{}, nil, err
	}
	rows, err := x.Select(ctx, engine.Selection{Where: r.GetWhere(), Output: plan.OutputBits, Caller: caller, Timeout: s.timeout(r.GetTimeoutMs())})
	if err != nil {
		return engine.Rows{}, nil, err
	}
	if r.GetLimit() == 0 && rows.Count > uint64(s.opt.Limits.Documents) {
		return engine.Rows{}, nil, &LimitError{"documents", uint64(s.opt.Limits.Documents)}
	}
	ids := rowset.AppendIDs(make([]uint32, 0, rows.Count), rows.Bits)
	if limit := int(r.GetLimit()); limit != 0 && limit < len(ids) {
		ids = ids[:limit]
	}
	return rows, ids, nil
}

// ListTables implements api.TableServiceHandler.
func (t tableService) ListTables(context.Context, *api.ListTablesRequest) (*api.ListTablesResponse, error) {
	out := &api.ListTablesResponse{}
	for _, name := range slices.Sorted(maps.Keys(t.s.tables)) {
		one, err := t.describe(name)
		if err != nil {
			return nil, err
		}
		out.Tables = append(out.Tables, one)
	}
	return out, nil
}

// GetTable implements api.TableServiceHandler.
func (t tableService) GetTable(_ context.Context, r *api.GetTableRequest) (*api.Table, error) {
	return t.describe(r.GetTable())
}

func (t tableService) describe(name string) (*api.Table, error) {
	served, x, err := find(t.s.tables, "table", name)
	if served == nil {
		return nil, err
	}
	out := &api.Table{Name: name}
	if err != nil { // not loaded yet
		return out, nil
	}
	info, err := x.Info()
	if err != nil {
		return nil, err
	}
	out.Ready, out.Rows, out.Checksum, out.Resident = true, uint64(info.Rows), hex(served.checksum.Load()), residents(info.Resident)
	for _, c := range info.Columns {
		out.Columns = append(out.Columns, &api.Column{Name: c.Name, Type: c.Type.String(), Bins: uint32(len(c.Bins)), Missing: uint64(c.Missing)})
	}
	return out, nil
}
