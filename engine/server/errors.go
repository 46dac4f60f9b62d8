package server

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"

	"heddle/engine"
	"heddle/engine/api"
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
	engine.OutOfMemory:   {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.Corrupt:       {http.StatusInternalServerError, connect.CodeDataLoss},
	engine.Unsupported:   {http.StatusUnprocessableEntity, connect.CodeFailedPrecondition},
	engine.Closed:        {http.StatusServiceUnavailable, connect.CodeUnavailable},
	engine.DiskFull:      {http.StatusInsufficientStorage, connect.CodeResourceExhausted},
	engine.Internal:      {http.StatusInternalServerError, connect.CodeInternal},

	engine.Unauthenticated: {http.StatusUnauthorized, connect.CodeUnauthenticated},
	engine.Forbidden:       {http.StatusForbidden, connect.CodePermissionDenied},
}

// statusCanceled is the status in logs of a request whose client has left. No client sees it.
const statusCanceled = 499

// describe returns the description of an error, its HTTP status and its code in Connect.
func describe(err error, request string) (e *api.Error, status int, code connect.Code) {
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
		case errors.Is(err, errEncoding):
			status = http.StatusUnsupportedMediaType
		}
	}
	e.RequestId = request
	return e, status, code
}

// badRequest is the error of a request that cannot be understood.
func badRequest(err error) error {
	return &engine.Error{Code: engine.InvalidOption, Op: "read request", Err: err}
}

// remote returns err as an error of Connect with its description. Errors of the protocol itself,
// such as an unknown procedure, stay.
func remote(err error, request string) error {
	if _, ok := errors.AsType[*connect.Error](err); ok {
		return err
	}
	e, _, code := describe(err, request)
	failed := connect.NewError(code, e.GetMessage()).WithCause(err)
	if detail, err := connectproto.NewErrorDetail(e); err == nil {
		failed = failed.WithDetail(detail)
	}
	return failed
}

// problem is an error in the form of RFC 9457.
type problem struct {
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

// writeProblem replies with an error.
func writeProblem(w http.ResponseWriter, err error) {
	e, status, _ := describe(err, w.Header().Get(requestHeader))
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
	writeProblemOf(w, e, status)
}

func writeProblemOf(w http.ResponseWriter, e *api.Error, status int) {
	title := http.StatusText(status)
	if status == statusCanceled {
		title = "Client Closed Request"
	}
	text, err := json.Marshal(problem{"about:blank", title, status, e.GetMessage(), e.GetCode(), e.GetOp(), e.GetDevice(), e.Offset, e.GetLimit(), e.GetMax(), e.GetRequestId()})
	if err != nil {
		panic(err) // strings and numbers always succeed
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}
