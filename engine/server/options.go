package server

import (
	"cmp"
	"fmt"
	"regexp"
	"time"

	"github.com/rs/zerolog"
)

// Options rule a server. The zero value serves no index and no table.
type Options struct {
	// Indexes and Tables are the files to serve, by name. A name consists of letters, digits, dots,
	// dashes and underscores.
	Indexes, Tables map[string]string
	// Trusted opens files without a check of their checksums.
	Trusted bool

	// Limits of requests.
	Limits Limits
	// Timeout of a query or batch. A request may ask for less. Default: 30 s.
	Timeout time.Duration
	// Stall is the time in which a client must send its headers, send its body, and accept each
	// part of an answer. Default: 30 s.
	Stall time.Duration
	// DrainDelay is the time between the report of not being ready and the end of new connections.
	// Default: 0.
	DrainDelay time.Duration
	// Log receives messages for people. Default: nil, none.
	Log *zerolog.Logger
}

// Limits bound the requests. A request beyond a limit gets an error with the name of the limit.
type Limits struct {
	// Body is the size of a request in bytes, after decompression. Default: 16 MiB.
	Body int64
	// Batch is the number of queries of a batch. Default: 10,000.
	Batch int
	// K is the number of documents of a ranked query. Default: 1000.
	K int
	// Terms is the number of words of a query: runs of characters without white space.
	// Default: 1024.
	Terms int
	// Documents is the number of documents or rows of an answer. Default: 16 Mi.
	Documents int
	// Concurrency is the number of requests that run at the same time. Default: 1024.
	Concurrency int
}

var nameOfFile = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// CheckName returns an error unless name can be the name of an index or table.
func CheckName(name string) error {
	if !nameOfFile.MatchString(name) || name == "." || name == ".." {
		return fmt.Errorf("name %q: want letters, digits, dots, dashes and underscores", name)
	}
	return nil
}

func (o *Options) ensureDefaults() {
	l := &o.Limits
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Batch = cmp.Or(l.Batch, 10_000)
	l.K = cmp.Or(l.K, 1000)
	l.Terms = cmp.Or(l.Terms, 1024)
	l.Documents = cmp.Or(l.Documents, 16<<20)
	l.Concurrency = cmp.Or(l.Concurrency, 1024)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	if o.Log == nil {
		nop := zerolog.Nop()
		o.Log = &nop
	}
}

func (o *Options) validate() error {
	for _, files := range []map[string]string{o.Indexes, o.Tables} {
		for name := range files {
			if err := CheckName(name); err != nil {
				return err
			}
		}
	}
	l := &o.Limits
	if min(l.Body, int64(l.Batch), int64(l.K), int64(l.Terms), int64(l.Documents), int64(l.Concurrency), int64(o.Timeout), int64(o.Stall)) < 1 || o.DrainDelay < 0 {
		return fmt.Errorf("limits %+v, timeout %v, stall %v: want positive values", *l, o.Timeout, o.Stall)
	}
	return nil
}

// LimitError is the error of a request beyond a limit of the server.
type LimitError struct {
	Limit string // "body", "batch", "k", "terms", "documents" or "concurrency"
	Max   uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the request exceeds the limit %s of the server, %d (setting server.max_%s)", e.Limit, e.Max, e.Limit)
}

// within returns a LimitError if n is above the limit.
func within[N int | int64](limit string, n int, most N) error {
	if int64(n) > int64(most) {
		return &LimitError{limit, uint64(most)}
	}
	return nil
}
