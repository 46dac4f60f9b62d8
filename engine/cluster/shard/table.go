package shard

import (
	"context"
	"errors"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/plan"
	"heddle/engine/table/rowset"
)

// ShardSelect implements api.ShardServiceHandler.
func (h handler) ShardSelect(ctx context.Context, r *api.ShardSelectRequest) (out *api.ShardSelectResponse, err error) {
	defer reply(&err)
	t, release, err := h.shards.OpenTable(r.GetTarget().GetCollection(), r.GetTarget().GetEpoch(), int(r.GetTarget().GetShard()))
	if err != nil {
		return nil, err
	}
	defer release()
	in, err := rowsIn(t, r.GetIn())
	if err != nil {
		return nil, err
	}
	out = &api.ShardSelectResponse{Epoch: r.GetTarget().GetEpoch()}
	for i, where := range r.GetWhere() {
		s := engine.Selection{Where: where, In: in, Output: plan.OutputCounts, Caller: r.GetCaller(), Timeout: left(r.GetTimeoutUs())}
		if r.GetRows() {
			s.Output = plan.OutputBits
		}
		if r.GetExplain() {
			s.Explain = new(engine.TableExplanation)
		}
		rows, err := t.Select(ctx, s)
		if code := engine.CodeOf(err); len(r.GetWhere()) > 1 && (code == engine.InvalidQuery || code == engine.Unsupported) {
			out.Errors = append(out.Errors, &api.BatchError{Query: uint32(i), Error: api.ErrorOf(err)})
		} else if err != nil {
			return nil, err
		}
		out.Counts = append(out.Counts, rows.Count)
		if r.GetRows() {
			most := rows.Count
			if l := r.GetLimit(); l > 0 {
				most = min(most, l)
			}
			out.Rows = rowset.AppendFirst(out.Rows, rows.Bits, int(most))
			rows.Release()
		}
		out.Ends = append(out.Ends, uint64(len(out.Rows)))
		if s.Explain != nil {
			out.Explanation = s.Explain.String()
		}
	}
	return out, nil
}

// codes of Connect, by the code of the engine. Other codes are internal.
var codes = map[engine.Code]connect.Code{
	engine.InvalidQuery: connect.CodeInvalidArgument, engine.InvalidOption: connect.CodeInvalidArgument,
	engine.NotFound: connect.CodeNotFound, engine.NoDevice: connect.CodeUnavailable, engine.Unavailable: connect.CodeUnavailable, engine.Overloaded: connect.CodeResourceExhausted,
	engine.Deadline: connect.CodeDeadlineExceeded, engine.Canceled: connect.CodeCanceled, engine.Closed: connect.CodeUnavailable,
	engine.Unsupported: connect.CodeFailedPrecondition, engine.Corrupt: connect.CodeDataLoss,
}

// reply turns an error into an error of Connect, with its description.
func reply(err *error) {
	if *err == nil {
		return
	}
	e := api.ErrorOf(*err)
	code, ok := codes[engine.CodeOf(*err)]
	if !ok {
		code = connect.CodeInternal
	}
	if errors.Is(*err, ErrEpoch) {
		e.Code, code = EpochCode, connect.CodeFailedPrecondition
	}
	failed := connect.NewError(code, e.GetMessage()).WithCause(*err)
	if detail, wrong := connectproto.NewErrorDetail(e); wrong == nil {
		failed = failed.WithDetail(detail)
	}
	*err = failed
}
