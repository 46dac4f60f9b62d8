package transport

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"
	"github.com/nats-io/nats.go"

	"heddle/engine"
	"heddle/engine/api"
)

// Options rule a connection to NATS.
type Options struct {
	// Name of the connection, for the monitoring of NATS.
	Name string
	// NKey is the file of the seed of a user; Credentials a file of a user's JWT and seed.
	NKey, Credentials string
	// CA, Cert and Key are files in PEM: the authority of the server, and the certificate of the
	// client.
	CA, Cert, Key string
	// Ping is the time between pings. Two of them without an answer end a connection. Default: 1 s.
	Ping time.Duration
	// Lost reports the loss of a connection and its return, where err is nil. Default: none.
	Lost func(err error)
	// Wait accepts servers that do not answer yet: Lost reports them, and the connection comes later.
	// Default: Connect fails.
	Wait bool
	// Refused reports errors such as a subject that the user may not use. Default: none.
	Refused func(err error)
}

// Conn is a connection to NATS that returns after each loss. It is safe for concurrent use.
type Conn struct {
	*nats.Conn
	mu   sync.Mutex
	live context.Context // ends with the current connection
	end  context.CancelCauseFunc
}

var errLost = errors.New("the connection to NATS is lost")

// Connect opens a connection to servers, a list of URLs with commas.
func Connect(servers string, opt Options) (*Conn, error) {
	c := new(Conn)
	c.live, c.end = context.WithCancelCause(context.Background())
	note := func(err error) {
		if opt.Lost != nil {
			opt.Lost(err)
		}
	}
	if opt.Ping <= 0 {
		opt.Ping = time.Second
	}
	with := []nats.Option{
		nats.Name(opt.Name), nats.PingInterval(opt.Ping), nats.MaxPingsOutstanding(2),
		nats.PermissionErrOnSubscribe(true), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1), nats.ReconnectWait(opt.Ping / 4), nats.ReconnectJitter(opt.Ping/4, opt.Ping/4),
		nats.IgnoreAuthErrorAbort(), nats.RetryOnFailedConnect(opt.Wait), nats.ConnectHandler(func(*nats.Conn) {
			if opt.Wait {
				note(nil)
			}
		}),
		nats.Timeout(2 * opt.Ping), nats.FlusherTimeout(2 * opt.Ping),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			c.lose()
			if !nc.IsClosed() { // by Close
				note(errors.Join(errLost, err))
			}
		}),
		nats.ReconnectHandler(func(*nats.Conn) { note(nil) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if opt.Refused != nil {
				opt.Refused(err)
			}
		}),
	}
	if opt.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(opt.NKey)
		if err != nil {
			return nil, err
		}
		with = append(with, key)
	}
	if opt.Credentials != "" {
		with = append(with, nats.UserCredentials(opt.Credentials))
	}
	if opt.CA != "" {
		with = append(with, nats.RootCAs(opt.CA))
	}
	if opt.Cert != "" || opt.Key != "" {
		with = append(with, nats.ClientCert(opt.Cert, opt.Key))
	}
	var err error
	if c.Conn, err = nats.Connect(servers, with...); err != nil {
		return nil, err
	}
	if !c.IsConnected() {
		note(cmp.Or(c.LastError(), nats.ErrNoServers))
	}
	return c, nil
}

// Unreachable reports whether an error of Connect says that no server answers. Connect succeeds then with
// Options.Wait.
func Unreachable(err error) bool {
	failed, network := errors.AsType[*net.OpError](err) // any error of a system call is a net.Error, a missing file too
	return network && failed.Op != "listen" && !strings.HasPrefix(failed.Net, "unix") || errors.Is(err, nats.ErrNoServers)
}

// lose ends the calls of the current connection: their answers cannot come any more.
func (c *Conn) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(errLost)
	c.live, c.end = context.WithCancelCause(context.Background())
}

// current returns a context that ends with the current connection.
func (c *Conn) current() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live
}

// Permitted returns nil if the user of the connection may subscribe to a subject.
func (c *Conn) Permitted(subject string) error {
	sub, err := c.SubscribeSync(subject)
	if err != nil {
		return err
	}
	if err := c.Flush(); err != nil {
		return errors.Join(err, sub.Unsubscribe())
	}
	// The refusal of a subscription arrives before the answer of Flush, and closes it.
	_, err = sub.NextMsg(time.Millisecond)
	if errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	return sub.Unsubscribe()
}

// payloadDetail describes a message above a limit as servers describe other limits.
func payloadDetail(limit int64) *connect.ErrorDetail {
	most := uint64(limit)
	d, err := connectproto.NewErrorDetail(&api.Error{Code: engine.InvalidOption.String(), Message: "the message is too large for NATS", Limit: "payload", Max: &most})
	if err != nil {
		panic(err) // a message of the package always succeeds
	}
	return d
}

// isPayload reports whether an error is the refusal of a message above the limit of NATS.
func isPayload(err error) bool {
	d, ok := api.DetailOf(err)
	return ok && d.GetLimit() == "payload"
}
