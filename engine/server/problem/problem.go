// Package problem describes the errors of requests in HTTP, Connect and gRPC, and has the errors of limits.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/admit"
)

// statuses give each code of the engine its HTTP status and its code in Connect and gRPC.
var statuses = map[engine.Code]struct {
	http int
	rpc  connect.Code
}{
	engine.InvalidQuery:  {http.StatusBadRequest, connect.CodeInvalidArgument},
	engine.InvalidOption: {http.StatusBadRequest, connect.CodeInvalidArgument},
	engine.NotFound:      {http.StatusNotFound, connect.CodeNotFound},
	engine.NoDevice:      {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.Overloaded:    {http.StatusTooManyRequests, connect.CodeResourceExhausted},
	engine.Deadline:      {http.StatusGatewayTimeout, connect.CodeDeadlineExceeded},
	engine.Canceled:      {statusCanceled, connect.CodeCanceled},
	engine.Unavailable:   {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.OutOfMemory:   {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.Corrupt:       {http.StatusInternalServerError, connect.CodeDataLoss},
	engine.Unsupported:   {http.StatusUnprocessableEntity, connect.CodeFailedPrecondition},
	engine.Closed:        {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.Gone:          {http.StatusGone, connect.CodeAborted},
	engine.DiskFull:      {http.StatusInsufficientStorage, connect.CodeResourceExhausted},
	engine.Internal:      {http.StatusInternalServerError, connect.CodeInternal},

	engine.Unauthenticated: {http.StatusUnauthorized, connect.CodeUnauthenticated},
	engine.Forbidden:       {http.StatusForbidden, connect.CodePermissionDenied},
}

// RequestHeader is the header with the id of a request.
const RequestHeader = "X-Request-Id"

// ErrEncoding is the cause of the error of a request in a compression that the server does not know.
var ErrEncoding = errors.New("want gzip, zstd or no compression")

// statusCanceled is the status in logs of a request whose client has left. No client sees it.
const statusCanceled = 499

// Describe returns the description of an error, its HTTP status and its code in Connect.
func Describe(err error, request string) (e *api.Error, status int, code connect.Code) {
	e = api.ErrorOf(err)
	if limit, ok := errors.AsType[*LimitError](err); ok {
		e.Code, e.Limit, e.Max = engine.InvalidOption.String(), limit.Limit, &limit.Max
		status, code = http.StatusRequestEntityTooLarge, connect.CodeInvalidArgument
		if limit.After > 0 {
			e.Code = engine.Overloaded.String()
			status, code = http.StatusTooManyRequests, connect.CodeResourceExhausted
		}
	} else {
		known := statuses[e.EngineCode()]
		status, code = known.http, known.rpc
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded): // the deadline of the connection
			status = http.StatusRequestTimeout
		case errors.Is(err, ErrEncoding):
			status = http.StatusUnsupportedMediaType
		}
	}
	e.RequestId = request
	return e, status, code
}

// BadRequest is the error of a request that cannot be understood.
func BadRequest(err error) error {
	return &engine.Error{Code: engine.InvalidOption, Op: "read request", Err: err}
}

// Connect returns err as an error of Connect with its description. Errors of the protocol itself,
// such as an unknown procedure, stay.
func Connect(err error, request string) error {
	if _, ok := errors.AsType[*connect.Error](err); ok {
		return err
	}
	e, _, code := Describe(err, request)
	failed := connect.NewError(code, e.GetMessage()).WithCause(err)
	if detail, err := connectproto.NewErrorDetail(e); err == nil {
		failed = failed.WithDetail(detail)
	}
	return failed
}

// Details are an error in the form of RFC 9457.
type Details struct {
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Detail    string  `json:"detail"`
	Code      string  `json:"code"`
	Op        string  `json:"op,omitempty"`
	Device    string  `json:"device,omitempty"`
	Offset    *uint32 `json:"offset,omitempty"`
	Limit     string  `json:"limit,omitempty"`
	Max       uint64  `json:"max,omitempty"`
	RequestID string  `json:"request_id,omitempty"`
}

// Write replies with an error.
func Write(w http.ResponseWriter, err error) {
	e, status, _ := Describe(err, w.Header().Get(RequestHeader))
	switch status {
	case http.StatusTooManyRequests:
		after := time.Second
		if limit, ok := errors.AsType[*LimitError](err); ok {
			after = limit.After
		}
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	WriteOf(w, e, status)
}

// WriteOf replies with a description.
func WriteOf(w http.ResponseWriter, e *api.Error, status int) {
	title := http.StatusText(status)
	if status == statusCanceled {
		title = "Client Closed Request"
	}
	text, err := json.Marshal(Details{"about:blank", title, status, e.GetMessage(), e.GetCode(), e.GetOp(), e.GetDevice(), e.Offset, e.GetLimit(), e.GetMax(), e.GetRequestId()})
	if err != nil {
		panic(err) // strings and numbers always succeed
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// LimitError is the error of a request beyond a limit of the server.
type LimitError struct {
	// Limit is "body", "batch", "k", "terms", "documents", "concurrency", "caller_concurrency",
	// "caller_rate", "unauthenticated", "memory" (of requests and answers), or "work": the queries before the
	// request take more than half of its time.
	Limit string
	Max   uint64
	// After is the time until another attempt makes sense; 0 for a request that is too large.
	After time.Duration
}

func (e *LimitError) Error() string {
	if e.Limit == "work" {
		return fmt.Sprintf("the server has more than %d queries to answer before the request, which take more than half of its time: try again later, or allow more time", e.Max)
	}
	if e.Limit == "memory" {
		remedy := "send less at once, or ask for less"
		if e.After > 0 {
			remedy = "try again later"
		}
		return fmt.Sprintf("the memory of the server for requests and answers, %d bytes, has no room for the request (setting server.memory): %s", e.Max, remedy)
	}
	return fmt.Sprintf("the request exceeds the limit %s of the server, %d (setting server.max_%s)", e.Limit, e.Max, e.Limit)
}

// Within returns a LimitError if n is above the limit.
func Within[N int | int64](limit string, n int, most N) error {
	if int64(n) > int64(most) {
		return &LimitError{Limit: limit, Max: uint64(most)}
	}
	return nil
}

// Take adds bytes to the memory of the request of a context.
func Take(ctx context.Context, bytes int64) error {
	return Refusal(admit.Of(ctx).Take(bytes))
}

// Refusal returns the error of a refusal; nil for nil.
func Refusal(r *admit.Refusal) error {
	if r == nil {
		return nil
	}
	return &LimitError{r.Limit, uint64(r.Max), r.After}
}

// Unread returns the error of a body that cannot be read.
func Unread(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &LimitError{Limit: "body", Max: uint64(large.Limit)}
	}
	if refused, ok := errors.AsType[*LimitError](err); ok {
		return refused
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &engine.Error{Code: engine.Deadline, Op: "read request", Err: err}
	}
	return BadRequest(err)
}
