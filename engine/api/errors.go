package api

import (
	"errors"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"

	"heddle/engine"
	"heddle/engine/syntax"
)

// ErrorOf describes an error of package engine. The result has no limit and no request id.
func ErrorOf(err error) *Error {
	e := &Error{Code: engine.CodeOf(err).String(), Message: err.Error()}
	if known, ok := errors.AsType[*engine.Error](err); ok {
		e.Op, e.Device = known.Op, known.Device
	}
	if wrong, ok := errors.AsType[*syntax.Error](err); ok {
		offset := uint32(wrong.Offset)
		e.Offset = &offset
	}
	return e
}

// EngineCode returns the code of the engine that e names; engine.Internal for an unknown name.
func (x *Error) EngineCode() (c engine.Code) {
	_ = c.UnmarshalText([]byte(x.GetCode())) // never an error
	return c
}

// DetailOf returns the description that the error of a client carries.
func DetailOf(err error) (*Error, bool) {
	remote, ok := errors.AsType[*connect.Error](err)
	if !ok {
		return nil, false
	}
	for _, d := range remote.Details() {
		if m, err := connectproto.UnmarshalErrorDetail(d); err == nil {
			if e, ok := m.(*Error); ok {
				return e, true
			}
		}
	}
	return nil, false
}

// EngineError returns the error of a client as an *engine.Error, so that callers of a server and
// of the library handle the same errors; nil for nil. A server without an answer is
// engine.Unavailable.
func EngineError(err error) error {
	if err == nil {
		return nil
	}
	if d, ok := DetailOf(err); ok {
		return &engine.Error{Code: d.EngineCode(), Op: d.GetOp(), Device: d.GetDevice(), Err: err}
	}
	code := engine.CodeOf(err)
	switch connect.CodeOf(err) {
	case connect.CodeDeadlineExceeded:
		code = engine.Deadline
	case connect.CodeCanceled:
		code = engine.Canceled
	case connect.CodeUnavailable:
		code = engine.Unavailable
	case connect.CodeNotFound:
		code = engine.NotFound
	case connect.CodeInvalidArgument:
		code = engine.InvalidOption
	case connect.CodeUnauthenticated:
		code = engine.Unauthenticated
	case connect.CodePermissionDenied:
		code = engine.Forbidden
	case connect.CodeUnimplemented:
		code = engine.Unsupported
	}
	return &engine.Error{Code: code, Op: "call", Err: err}
}
