package server

import (
	"context"
	"io"
	"net/http"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/bodies"
	"heddle/engine/server/problem"
	"heddle/engine/table/values"
	"heddle/engine/table/values/arrow"
	"heddle/engine/table/values/parquet"
)

// valueWriters are the forms of values, besides JSON, by media type.
var valueWriters = map[string]func(io.Writer) values.Writer{
	bodies.Lines: values.NewLines, "text/csv": values.NewCSV, arrow.Type: arrow.New, parquet.Type: parquet.New,
}

var valueTypes = []string{bodies.JSON, bodies.Lines, "text/csv", arrow.Type, parquet.Type}

// cellBytes is the memory of a value of an answer: its code, and its text in JSON.
const cellBytes = 64

// aggregated is the answer of an aggregation.
type aggregated struct {
	batches     []values.Batch // batches of the answer, at least one
	explanation string
	coverage    *api.Coverage
}

// Aggregate implements api.TableServiceHandler.
func (t tableService) Aggregate(ctx context.Context, r *api.AggregateRequest) (*api.AggregateResponse, error) {
	began := time.Now()
	a, err := t.s.aggregate(ctx, r)
	if err != nil {
		return nil, err
	}
	return a.response(began), nil
}

// response is the answer as a message.
func (a *aggregated) response(began time.Time) *api.AggregateResponse {
	out := &api.AggregateResponse{Explanation: a.explanation, Coverage: a.coverage}
	for k, c := range a.batches[0] {
		column := &api.ValueColumn{Name: c.Name, Type: c.TypeName()}
		for _, b := range a.batches {
			for i := range b[k].Len() {
				var text []byte
				if b[k].Null(i) {
					column.Missing = append(column.Missing, uint32(len(column.Values)))
				} else {
					text = b[k].AppendText(nil, i)
				}
				column.Values = append(column.Values, string(text))
			}
		}
		out.Columns = append(out.Columns, column)
	}
	out.TookMs = milliseconds(began)
	return out
}

// aggregate answers a request.
func (s *Server) aggregate(ctx context.Context, r *api.AggregateRequest) (*aggregated, error) {
	most := s.limits().Documents
	if err := problem.Within("documents", int(r.GetLimit()), most); err != nil {
		return nil, err
	}
	about := about(ctx, r.GetTable(), r.GetSelect())
	if r.GetWhere() != "" {
		about.Query += " WHERE " + r.GetWhere()
	}
	in, err := s.restrict(ctx, r.GetTable(), r.GetWhere(), r.GetIn())
	if err != nil {
		return nil, err
	}
	a := engine.Aggregation{Select: r.GetSelect(), GroupBy: r.GetGroupBy(), OrderBy: r.GetOrderBy(), Offset: r.GetOffset(), Limit: uint64(r.GetLimit()),
		Rows: engine.Selection{Where: in.Where, Caller: about.Caller, Timeout: s.timeout(r.GetTimeoutMs())}}
	if r.Limit == nil {
		a.Limit = uint64(most) + 1
	} else if a.Limit == 0 {
		a.Limit = 1 // the only row is dropped afterwards
	}
	if s.opt.Remote != nil {
		return s.remoteValues(ctx, r, &a, in.Rows)
	}
	if r.GetExplain() {
		a.Rows.Explain = new(engine.TableExplanation)
	}
	x, err := s.tables.Get(r.GetTable())
	if err != nil {
		return nil, err
	}
	if a.Rows.In, err = in.Bits(x); err != nil {
		return nil, err
	}
	out, n := &aggregated{}, 0
	err = x.Aggregate(ctx, a, func(b values.Batch) error {
		if r.Limit != nil {
			b = b.Cut(0, min(b.Len(), int(r.GetLimit())))
		}
		n += b.Len()
		if err := problem.Take(ctx, cellBytes*int64(b.Len()*len(b))); err != nil {
			return err
		}
		out.batches = append(out.batches, b)
		return problem.Within("documents", n, most)
	})
	if err != nil {
		return nil, err
	}
	if a.Rows.Explain != nil {
		out.explanation = a.Rows.Explain.String()
	}
	return out, nil
}

// aggregateRoute answers POST /v1/tables/{table}/aggregate in the form that the client accepts.
func (s *Server) aggregateRoute(w http.ResponseWriter, r *http.Request, variables []protoreflect.FieldDescriptor) error {
	kind := accepted(w, r, valueTypes)
	if kind == "" {
		return nil
	}
	request := new(api.AggregateRequest)
	if err := readBody(r, request, variables); err != nil {
		return err
	}
	var a *aggregated
	began := time.Now()
	err := s.inSlot(r.Context(), 1, request.GetTimeoutMs(), func() (err error) { // writing follows: a slow reader holds no slot
		a, err = s.aggregate(r.Context(), request)
		return err
	})
	if err != nil {
		return err
	}
	out, err := s.slow(w, r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", kind)
	if kind != bodies.JSON {
		setCoverage(w.Header(), a.coverage)
	}
	defer out.Flush() // after an error of the connection, Write and Flush do nothing
	if kind == bodies.JSON {
		out.Write(append(api.AppendJSON(nil, a.response(began)), '\n'))
		return nil
	}
	writer := valueWriters[kind](out)
	for _, b := range a.batches {
		writer.Write(b)
	}
	writer.Close()
	return nil
}
