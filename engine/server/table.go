package server

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/server/bodies"
	"heddle/engine/server/catalog"
	"heddle/engine/server/monitor"
	"heddle/engine/server/problem"
	"heddle/engine/server/rows"
	"heddle/engine/table/column"
	"heddle/engine/table/rowset"
)

// tableService implements api.TableServiceHandler.
type tableService struct{ s *Server }

// Count implements api.TableServiceHandler.
func (t tableService) Count(ctx context.Context, r *api.CountRequest) (*api.CountResponse, error) {
	began := time.Now()
	about := about(ctx, r.GetTable(), r.GetWhere())
	in, err := t.s.restrict(ctx, r.GetTable(), r.GetWhere(), r.GetIn())
	if err != nil {
		return nil, err
	}
	sel := engine.Selection{Where: in.Where, Output: plan.OutputCounts, Caller: about.Caller, Timeout: t.s.timeout(r.GetTimeoutMs())}
	if r.GetExplain() {
		sel.Explain = new(engine.TableExplanation)
	}
	if remote := t.s.opt.Remote; remote != nil {
		rows, cover, err := remote.Select(ctx, r.GetTable(), api.Selection{Where: []string{sel.Where}, In: in.Rows, Explain: r.GetExplain(),
			AllowPartial: r.GetAllowPartial(), Caller: sel.Caller, Timeout: sel.Timeout})
		if err != nil {
			return nil, err
		}
		return &api.CountResponse{Count: rows[0].Count, TookMs: milliseconds(began), Explanation: rows[0].Explanation, Coverage: cover}, nil
	}
	x, err := t.s.tables.Get(r.GetTable())
	if err != nil {
		return nil, err
	}
	if sel.In, err = in.Bits(x); err != nil {
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
	if err := problem.Within("batch", len(r.GetWhere()), t.s.limits().Batch); err != nil {
		return nil, err
	}
	aboutBatch(ctx, r.GetTable(), len(r.GetWhere()))
	if t.s.opt.Remote != nil {
		return t.remoteCounts(ctx, r, began)
	}
	x, err := t.s.tables.Get(r.GetTable())
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
	out.Errors = batchErrors(ctx, errs)
	out.TookMs = milliseconds(began)
	return out, nil
}

// Select implements api.TableServiceHandler.
func (t tableService) Select(ctx context.Context, r *api.SelectRequest) (*api.SelectResponse, error) {
	began := time.Now()
	a, err := t.s.selectRows(ctx, r, bodies.JSON)
	if err != nil {
		return nil, err
	}
	out := &api.SelectResponse{Count: a.Count, Rows: make([]uint64, a.Len()), Coverage: a.Coverage}
	for i := range out.Rows {
		out.Rows[i] = a.At(i)
	}
	out.TookMs = milliseconds(began)
	return out, nil
}

// selectRows returns the rows of a request in the form for a media type. The limit of documents counts ranges for
// rows.RangesType.
func (s *Server) selectRows(ctx context.Context, r *api.SelectRequest, kind string) (*rows.Answer, error) {
	if err := problem.Within("documents", int(r.GetLimit()), s.limits().Documents); err != nil {
		return nil, err
	}
	about := about(ctx, r.GetTable(), r.GetWhere())
	in, err := s.restrict(ctx, r.GetTable(), r.GetWhere(), r.GetIn())
	if err != nil {
		return nil, err
	}
	sel := engine.Selection{Where: in.Where, Output: plan.OutputBits, Caller: about.Caller, Timeout: s.timeout(r.GetTimeoutMs())}
	if s.opt.Remote != nil {
		return s.remoteRows(ctx, r, sel, in.Rows)
	}
	x, err := s.tables.Get(r.GetTable())
	if err != nil {
		return nil, err
	}
	if sel.In, err = in.Bits(x); err != nil {
		return nil, err
	}
	found, err := x.Select(ctx, sel)
	if err != nil {
		return nil, err
	}
	defer found.Release()
	if err := problem.Take(ctx, 8*int64(len(found.Bits))); err != nil {
		return nil, err
	}
	most := found.Count
	if r.Limit != nil {
		most = min(most, uint64(r.GetLimit()))
	}
	if kind == rows.RangesType {
		all, err := rows.Ranges(ctx, found.Bits, most, s.limits().Documents)
		return &rows.Answer{Count: found.Count, Ranges: all}, err
	}
	if r.Limit == nil && found.Count > uint64(s.limits().Documents) {
		return nil, &problem.LimitError{Limit: "documents", Max: uint64(s.limits().Documents)}
	}
	if err := problem.Take(ctx, 8*int64(most)); err != nil { // with a copy in another form
		return nil, err
	}
	if kind == rows.RoaringType && most == found.Count {
		return &rows.Answer{Count: most, Set: rowset.ToRoaring(found.Bits)}, nil
	}
	return &rows.Answer{Count: found.Count, IDs: rowset.AppendFirst(make([]uint32, 0, most), found.Bits, int(most))}, nil
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
	x, err := t.s.tables.Find(r.GetTable())
	if err != nil {
		return nil, err
	}
	return describeTable(x)
}

func describeTable(x *catalog.Entry[*engine.Table]) (*api.Table, error) {
	out := &api.Table{Name: x.Name}
	now := x.Now()
	if !now.Ready() {
		return out, nil
	}
	info, err := now.Resource.Info()
	if err != nil {
		return nil, err
	}
	out.Ready, out.Rows, out.Checksum, out.Resident = true, uint64(info.Rows), now.Checksum, residents(info.Resident)
	for _, c := range info.Columns {
		out.Columns = append(out.Columns, &api.Column{Name: c.Name, Type: c.TypeName(), Bins: uint32(len(c.Stored().Bins)), Missing: uint64(c.Missing)})
	}
	return out, nil
}

// selectRoute answers POST /v1/tables/{table}/select in the form that the client accepts.
func (s *Server) selectRoute(w http.ResponseWriter, r *http.Request, variables []protoreflect.FieldDescriptor) error {
	kind := accepted(w, r, rows.Types)
	if kind == "" {
		return nil
	}
	request := new(api.SelectRequest)
	if err := readBody(r, request, variables); err != nil {
		return err
	}
	var a *rows.Answer
	began := time.Now()
	err := s.inSlot(r.Context(), 1, request.GetTimeoutMs(), func() (err error) { // writing follows: a slow reader holds no slot
		a, err = s.selectRows(r.Context(), request, kind)
		return err
	})
	if err != nil {
		return err
	}
	took := milliseconds(began)
	if a.Large != nil && kind != bodies.JSON && kind != bodies.Lines && kind != rows.RangesType {
		return &engine.Error{Code: engine.Unsupported, Op: "select", Err: fmt.Errorf("row %d has more than 32 bits: accept %s or %s, or use a smaller limit", a.Large[len(a.Large)-1], bodies.JSON, bodies.Lines)}
	}
	out, err := s.slow(w, r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	if kind != bodies.JSON {
		setCoverage(w.Header(), a.Coverage)
	}
	a.Write(out, kind, took)
	out.Flush() // after an error of the connection, Write and Flush do nothing
	return nil
}

// restrict returns the predicate and the rows of a request.
func (s *Server) restrict(ctx context.Context, table, where string, in *api.RowSet) (rows.Restriction, error) {
	return rows.Restrict(where, in, s.limits().Documents, func() ([]column.Column, error) { return s.columnsOf(ctx, table) })
}

// columnsOf returns the names and types of the columns of a table.
func (s *Server) columnsOf(ctx context.Context, table string) (columns []column.Column, err error) {
	t, err := tableService{s}.GetTable(ctx, &api.GetTableRequest{Table: table})
	if err != nil {
		return nil, err
	}
	for _, c := range t.GetColumns() {
		kind, err := column.ParseType(c.GetType())
		if err != nil {
			return nil, err
		}
		columns = append(columns, column.Column{Name: c.GetName(), Type: kind})
	}
	return columns, nil
}
