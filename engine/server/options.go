package server

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/index/synonym"
	"heddle/engine/observe/meter"
	"heddle/engine/server/access"
	"heddle/engine/server/admit"
	"heddle/engine/server/catalog"
)

// Options rule a server. The zero value serves no index and no table.
type Options struct {
	// Indexes and Tables are the files to serve, by name. A name consists of letters, digits, dots,
	// dashes and underscores.
	Indexes, Tables map[string]string
	// Synonyms are put into the texts of queries, by the name of an index or collection; Server.SetSynonyms replaces them. Default: nil, none.
	Synonyms map[string]*synonym.Rules
	// Remote answers the queries in place of Indexes and Tables, which are empty then. Default:
	// nil, none.
	Remote Remote
	// Collections answers the queries on further indexes, which it lists. Default: nil, none.
	Collections Remote
	// Changer changes the collections. Default: nil, they cannot be changed.
	Changer Changer
	// Service answers further procedures on the port of queries. Default: nil, none.
	Service Service
	// Trusted opens files without a check of their checksums.
	Trusted bool

	// Root is the folder whose files administration may load. Default: none, loading is forbidden.
	Root string
	// Settings returns the settings for GET /v1/admin/config. Default: nil, none.
	Settings func() []*api.Setting

	// Console serves the web pages at /console/. They need no token; their requests do. Default:
	// nil, none.
	Console http.Handler
	// Meter counts the queries of the engine, as one of its observers. Default: nil, the status of
	// processors has no times.
	Meter *meter.Meter
	// Machine describes the machine, for GET /v1/machine. Default: nil, code Unsupported.
	Machine func(ctx context.Context) (*api.Machine, error)
	// Cluster describes the cluster, for GET /v1/cluster. Default: nil, there is none.
	Cluster func(ctx context.Context) (*api.Cluster, error)

	// Access decides about callers. Default: nil, all callers are equal and there is no TLS.
	Access *access.Guard
	// Hosts are further names of the server in the header Host: see access.CheckHost. They matter only
	// without tokens and certificates of clients. Default: none.
	Hosts []string
	// Origins of web pages that may call the routes of queries, such as https://shop.example. One * stands for any
	// text. Default: none but the server's own.
	Origins []string
	// Limits of requests. Server.SetLimits changes them.
	Limits Limits
	// Timeout of a query or batch. A request may ask for less. Default: 30 s.
	Timeout time.Duration
	// Stall is the time in which a client must send its headers, send its body, and accept each
	// part of an answer. Default: 30 s.
	Stall time.Duration
	// DrainDelay is the time between the report of not being ready and the end of new connections.
	// Default: 0.
	DrainDelay time.Duration
	// Collectors are further metrics for GET /metrics of administration, such as the metrics of
	// the engine. Default: none.
	Collectors []prometheus.Collector
	// AccessLog is the part of the requests that Log reports at level info, from 0 to 1. Requests
	// with status 500 and above, except 503, are always there, at level warn. Default: 0.
	AccessLog float64
	// Tracer makes a span for each request. Default: nil, none.
	Tracer trace.TracerProvider
	// Log receives messages for people. Default: nil, none.
	Log *zerolog.Logger
}

// Service is a part of a server beside indexes and tables. It is safe for concurrent use.
type Service interface {
	// Register adds the procedures.
	Register(s *connect.Server)
	// Load opens the files, the first time or again. An error leaves the old content.
	Load(ctx context.Context, e *engine.Engine) error
	// Ready returns nil after Load.
	Ready() error
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
	// CallerConcurrency is the same for the requests of a caller: a token, a certificate of a
	// client, or a host. Default: 0, none.
	CallerConcurrency int
	// CallerRate is the number of queries of a caller in a second. Default: 0, none.
	CallerRate int
	// Connections is the number of open connections of a listener. A further one takes the place of
	// one that waits for its peer, or is closed if there is none: see peers.Listener. Default: 4096.
	Connections int
	// AddressConnections is the number of connections of an address without an authorised request. A
	// further one takes the place of the oldest. Default: 1024.
	AddressConnections int
	// Memory is the number of bytes of requests and answers at the same time: bodies while they are unpacked
	// and decoded, and answers until they are written. A caller gets at most three times the bytes that are
	// free. Default: 1 GiB.
	Memory int64
	// Unauthenticated is the number of requests at the same time that show no token and no certificate,
	// such as a watch of the health service. A further one takes the place of the oldest. Default: 256.
	Unauthenticated int
}

func (o *Options) ensureDefaults() {
	o.Limits.ensureDefaults()
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.Stall = cmp.Or(o.Stall, 30*time.Second)
	if o.Access == nil {
		o.Access, _ = access.Open(access.Files{}) // without files there is no error
	}
	if o.Log == nil {
		nop := zerolog.Nop()
		o.Log = &nop
	}
}

func (l *Limits) ensureDefaults() {
	l.Body = cmp.Or(l.Body, 16<<20)
	l.Batch = cmp.Or(l.Batch, 10_000)
	l.K = cmp.Or(l.K, 1000)
	l.Terms = cmp.Or(l.Terms, 1024)
	l.Documents = cmp.Or(l.Documents, 16<<20)
	l.Concurrency = cmp.Or(l.Concurrency, 1024)
	l.Connections = cmp.Or(l.Connections, 4096)
	l.AddressConnections = cmp.Or(l.AddressConnections, 1024)
	l.Memory = cmp.Or(l.Memory, 1<<30)
	l.Unauthenticated = cmp.Or(l.Unauthenticated, 256)
}

func (l *Limits) validate() error {
	least := min(l.Body, l.Memory, int64(l.Batch), int64(l.K), int64(l.Terms), int64(l.Documents), int64(l.Concurrency), int64(l.Connections), int64(l.AddressConnections), int64(l.Unauthenticated))
	if least < 1 || l.CallerConcurrency < 0 || l.CallerRate < 0 {
		return fmt.Errorf("limits %+v: want positive values", *l)
	}
	return nil
}

// admit returns the limits of running requests.
func (l *Limits) admit() admit.Limits {
	return admit.Limits{Running: l.Concurrency, CallerRunning: l.CallerConcurrency, CallerRate: l.CallerRate}
}

func (o *Options) validate() error {
	for _, files := range []map[string]string{o.Indexes, o.Tables} {
		for name := range files {
			if err := catalog.CheckName(name); err != nil {
				return err
			}
		}
	}
	if min(o.Timeout, o.Stall) < 1 || o.DrainDelay < 0 {
		return fmt.Errorf("timeout %v, stall %v, drain delay %v: want positive values", o.Timeout, o.Stall, o.DrainDelay)
	}
	for _, origin := range o.Origins {
		if err := checkOrigin(origin); err != nil {
			return err
		}
	}
	return o.Limits.validate()
}

// OptionsOf returns the options that section [server] of a configuration asks for, without files.
func OptionsOf(v *config.Server, log zerolog.Logger) Options {
	return Options{
		Indexes: map[string]string{}, Tables: map[string]string{},
		Timeout: v.Timeout, Stall: v.Stall, DrainDelay: v.DrainDelay, Root: v.Root, Hosts: hostsOf(v), Origins: parts(v.Origins), AccessLog: v.AccessLog, Log: &log, Limits: LimitsOf(v),
	}
}

// hostsOf returns the names of the server: server.hosts, and the names of its addresses.
func hostsOf(v *config.Server) (names []string) {
	names = parts(v.Hosts)
	for _, address := range []string{v.Listen, v.Admin} {
		if host, _, err := net.SplitHostPort(address); err == nil {
			names = append(names, host)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// parts returns the parts of a text between commas, without blanks around them and without empty ones.
func parts(list string) (all []string) {
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

// LimitsOf returns the limits that section [server] of a configuration asks for.
func LimitsOf(v *config.Server) Limits {
	return Limits{
		Memory: int64(v.Memory), Body: int64(v.MaxBody), Batch: v.MaxBatch, K: v.MaxK, Terms: v.MaxTerms, Documents: v.MaxDocuments,
		Concurrency: v.MaxConcurrency, Connections: v.MaxConnections,
		CallerConcurrency: v.MaxCallerConcurrency, CallerRate: v.MaxCallerRate,
		AddressConnections: v.MaxAddressConnections, Unauthenticated: v.MaxUnauthenticated,
	}
}
