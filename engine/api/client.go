package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"heddle/engine"
)

// ClientOptions rule a client. The zero value is the default.
type ClientOptions struct {
	// HTTP sends the requests. Default: http.DefaultClient.
	HTTP *http.Client
	// Token goes with each request, in the header Authorization. Default: none.
	Token string
	// Retries is the number of further attempts of a call that changes nothing, after the server
	// was not reachable, not ready or overloaded. Negative is none. Default: 2.
	Retries int
	// Backoff is the mean time before the first further attempt. It doubles with each one.
	// Default: 50 ms.
	Backoff time.Duration
	// MaxReply limits a reply in bytes. Default: 1 GiB.
	MaxReply int
}

// Client calls a server by the Connect protocol. The deadline of a context reaches the server.
// Errors are of type *engine.Error, as errors of the library. It is safe for concurrent use.
type Client struct {
	IndexServiceClient
	TableServiceClient
	MachineServiceClient
	InspectServiceClient
}

// NewClient returns a client of the server at a URL, such as "http://127.0.0.1:7700". It does not
// connect yet. The error has code engine.InvalidOption.
func NewClient(server string, opt ClientOptions) (*Client, error) {
	c, err := newClient(server, opt)
	if err != nil {
		return nil, err
	}
	return &Client{NewIndexServiceClient(c), NewTableServiceClient(c), NewMachineServiceClient(c), NewInspectServiceClient(c)}, nil
}

// NewAdminClient returns a client of the administration of a server, which has its own address.
func NewAdminClient(server string, opt ClientOptions) (AdminServiceClient, error) {
	c, err := newClient(server, opt)
	if err != nil {
		return nil, err
	}
	return NewAdminServiceClient(c), nil
}

func newClient(server string, opt ClientOptions) (*connect.Client, error) {
	at, err := url.Parse(server)
	if err == nil && (at.Scheme != "http" && at.Scheme != "https" || at.Host == "") {
		err = fmt.Errorf("%q: want http://HOST:PORT or https://HOST:PORT", server)
	}
	if err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "new client", Err: err}
	}
	if opt.HTTP == nil {
		opt.HTTP = http.DefaultClient
	}
	if opt.Retries == 0 {
		opt.Retries = 2
	}
	if opt.Backoff <= 0 {
		opt.Backoff = 50 * time.Millisecond
	}
	if opt.MaxReply <= 0 {
		opt.MaxReply = 1 << 30
	}
	return connect.NewClient(connecthttp.NewTransport(opt.HTTP, server, connecthttp.WithReadMaxBytes(opt.MaxReply)), opt.intercept), nil
}

// intercept gives each call its further attempts, and its errors the type of the engine.
func (o ClientOptions) intercept(next connect.ClientFunc) connect.ClientFunc {
	return func(ctx context.Context, spec connect.Spec) (connect.ClientStream, error) {
		if info, ok := connect.CallInfoForClientContext(ctx); ok && o.Token != "" {
			info.RequestHeader().Set("Authorization", "Bearer "+o.Token)
		}
		a := &attempts{ctx: ctx, backoff: o.Backoff, open: func() (connect.ClientStream, error) { return next(ctx, spec) }}
		if spec.IdempotencyLevel == connect.IdempotencyNoSideEffects {
			a.left = o.Retries
		}
		var err error
		a.ClientStream, err = a.open()
		return a, EngineError(err)
	}
}

// attempts is the stream of a unary call: one message each way.
type attempts struct {
	connect.ClientStream // stream of the current attempt
	ctx                  context.Context
	open                 func() (connect.ClientStream, error)
	left                 int
	backoff              time.Duration // before the next attempt
	request              any
	failed               error // error of Send or CloseSend, for Receive
}

func (a *attempts) Send(msg any) error {
	a.request, a.failed = msg, a.ClientStream.Send(msg)
	return nil
}

func (a *attempts) CloseSend() error {
	if a.failed == nil {
		a.failed = a.ClientStream.CloseSend()
	}
	return nil
}

func (a *attempts) Receive(msg any) error {
	for {
		err := a.failed
		if err == nil || errors.Is(err, io.EOF) { // the server has the reason
			err = a.ClientStream.Receive(msg)
		}
		if err == nil || errors.Is(err, io.EOF) {
			return err
		}
		if a.left <= 0 || !temporary(err) || !a.wait() {
			return EngineError(err)
		}
		a.left--
		if err := a.again(); err != nil {
			return EngineError(err)
		}
	}
}

// wait waits before the next attempt; false if the deadline comes before.
func (a *attempts) wait() bool {
	pause := time.Duration((0.5 + rand.Float64()) * float64(a.backoff))
	a.backoff *= 2
	if end, ok := a.ctx.Deadline(); ok && time.Until(end) <= pause {
		return false
	}
	select {
	case <-time.After(pause):
		return true
	case <-a.ctx.Done():
		return false
	}
}

// again starts the next attempt.
func (a *attempts) again() error {
	closed := a.ClientStream.Close()
	next, err := a.open()
	if err != nil {
		return errors.Join(err, closed)
	}
	a.ClientStream = next
	if a.failed = next.Send(a.request); a.failed == nil {
		a.failed = next.CloseSend()
	}
	return nil
}

// temporary reports whether another attempt can succeed.
func temporary(err error) bool {
	d, ok := DetailOf(err)
	return connect.CodeOf(err) == connect.CodeUnavailable || ok && d.EngineCode() == engine.Overloaded
}
