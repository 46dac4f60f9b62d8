package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"connectrpc.com/connect/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"heddle/engine"
	"heddle/engine/api"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/server/admit"
	"heddle/engine/server/catalog"
	"heddle/engine/server/inspect"
	"heddle/engine/server/monitor"
	"heddle/engine/server/peers"
)

// Server serves indexes and tables of an engine. It is safe for concurrent use.
type Server struct {
	engine atomic.Pointer[engine.Engine] // nil until Use
	opt    Options

	indexes *catalog.Catalog[*engine.Index]
	tables  *catalog.Catalog[*engine.Table]
	now     atomic.Pointer[Limits]
	gate    *admit.Gate  // limit of running requests
	visits  peers.Visits // requests of callers without a token or certificate
	budget  *admit.Budget

	root func() (*os.Root, error) // the folder of administration, which stays open

	registry *prometheus.Registry
	monitor  *monitor.Monitor
	rpc      *connect.Server
	admin    *connect.Server
	inspect  *inspect.Service
	synonyms atomic.Pointer[map[string]*synonyms] // by index

	mu       sync.Mutex
	draining bool
	drain    chan struct{} // closed when draining begins
	changed  chan struct{} // closed at the next change of readiness
}

// New returns a server on an engine. The caller closes the engine after Serve has returned. The
// engine may be nil: the server answers probes, and is not ready before Use and Load.
func New(e *engine.Engine, opt Options) (*Server, error) {
	opt.ensureDefaults()
	if err := opt.validate(); err != nil {
		return nil, &engine.Error{Code: engine.InvalidOption, Op: "new server", Err: err}
	}
	s := &Server{
		opt: opt, gate: admit.New(opt.Limits.admit()), budget: admit.NewBudget(opt.Limits.Memory),
		drain: make(chan struct{}), changed: make(chan struct{}),
	}
	s.synonyms.Store(synonymsOf(opt.Synonyms))
	s.root = sync.OnceValues(func() (*os.Root, error) { return os.OpenRoot(s.opt.Root) })
	s.engine.Store(e)
	s.now.Store(&opt.Limits)
	s.registry = prometheus.NewRegistry()
	for _, c := range opt.Collectors {
		if err := s.registry.Register(c); err != nil {
			return nil, &engine.Error{Code: engine.InvalidOption, Op: "new server", Err: err}
		}
	}
	s.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gauge("server_running_requests", "Requests that hold a slot (setting server.max_concurrency).", s.gate.Running),
		gauge("server_running_queries", "Queries of the running requests.", s.gate.Queries),
		gauge("server_memory_bytes", "Memory of requests and answers.", func() int { used, _ := s.budget.Use(); return int(used) }),
		gauge("server_memory_limit_bytes", "Limit of the memory of requests and answers (setting server.memory).", func() int { return int(s.limits().Memory) }),
		gauge("server_unauthenticated_requests", "Running requests without a token or certificate (setting server.max_unauthenticated).", s.visits.Running),
		gauge("server_ready", "1 while all files are in service and the server does not drain.", func() int {
			if s.Ready() != nil {
				return 0
			}
			return 1
		}))
	s.monitor = &monitor.Monitor{Metrics: monitor.NewMetrics(s.registry), Log: opt.Log, Access: opt.AccessLog, InService: s.has}
	if opt.Tracer != nil {
		s.monitor.Tracer = opt.Tracer.Tracer("heddle/engine/server")
	}
	s.indexes = catalog.New("index", opt.Indexes, s.monitor, func(ctx context.Context, at catalog.Place) (*engine.Index, error) {
		e, err := s.processors()
		if err != nil {
			return nil, err
		}
		return e.OpenIndex(ctx, at.Path, engine.IndexOptions{Trusted: opt.Trusted, Root: at.Root})
	}, func(x *engine.Index) (string, error) {
		info, err := x.Info()
		return hex(info.Checksum), err
	})
	s.tables = catalog.New("table", opt.Tables, s.monitor, func(ctx context.Context, at catalog.Place) (*engine.Table, error) {
		e, err := s.processors()
		if err != nil {
			return nil, err
		}
		return e.OpenTable(ctx, at.Path, engine.TableOptions{Trusted: opt.Trusted, Root: at.Root})
	}, func(x *engine.Table) (string, error) {
		info, err := x.Info()
		return hex(info.Checksum), err
	})
	s.rpc = connect.NewServer(s.intercept)
	api.RegisterIndexServiceHandler(s.rpc, indexService{s})
	api.RegisterTableServiceHandler(s.rpc, tableService{s})
	s.inspect = s.inspection()
	api.RegisterMachineServiceHandler(s.rpc, s.inspect)
	api.RegisterInspectServiceHandler(s.rpc, s.inspect)
	s.rpc.Register(health{s}.methods()...)
	if opt.Service != nil {
		opt.Service.Register(s.rpc)
	}
	describe(s.rpc)
	s.admin = connect.NewServer(s.intercept)
	api.RegisterAdminServiceHandler(s.admin, adminService{s})
	describe(s.admin)
	return s, nil
}

// Use sets the engine of a server that New returned without one. Load follows.
func (s *Server) Use(e *engine.Engine) { s.engine.Store(e) }

// processors returns the engine. The error before Use has code Closed.
func (s *Server) processors() (*engine.Engine, error) {
	if e := s.engine.Load(); e != nil {
		return e, nil
	}
	return nil, &engine.Error{Code: engine.Closed, Op: "find processors", Err: errors.New("the processors are not open yet")}
}

func (s *Server) limits() *Limits { return s.now.Load() }

// SetLimits changes the limits. Running requests keep the old limits.
func (s *Server) SetLimits(l Limits) error {
	l.ensureDefaults()
	if err := l.validate(); err != nil {
		return &engine.Error{Code: engine.InvalidOption, Op: "set limits", Err: err}
	}
	s.now.Store(&l)
	s.gate.Set(l.admit())
	s.budget.Set(l.Memory)
	return nil
}

// Load opens the files of the server.
func (s *Server) Load(ctx context.Context) error { return s.Reload(ctx) }

// Reload opens the files of indexes and tables again and changes to their new contents without a
// gap: the files with the given names, or all files. A file with an error leaves the old content
// in service. Calls may overlap.
func (s *Server) Reload(ctx context.Context, files ...string) error {
	defer s.announce()
	err := errors.Join(s.indexes.ReloadFiles(ctx, files), s.tables.ReloadFiles(ctx, files))
	if s.opt.Service != nil && len(files) == 0 {
		e, wrong := s.processors()
		if wrong == nil {
			wrong = s.opt.Service.Load(ctx, e)
		}
		err = errors.Join(err, wrong)
	}
	return err
}

// Files returns the files in service, with their states before they were opened, for package watch.
func (s *Server) Files() map[string]os.FileInfo {
	files := map[string]os.FileInfo{}
	s.indexes.AddStates(files)
	s.tables.AddStates(files)
	return files
}

func gauge(name, help string, value func() int) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: heddleprometheus.Namespace, Name: name, Help: help}, func() float64 { return float64(value()) })
}

func hex(checksum uint64) string { return fmt.Sprintf("%016x", checksum) }

// snapshot pins the content of an index, which the caller closes.
func (s *Server) snapshot(index string) (*engine.Snapshot, error) {
	x, err := s.indexes.Get(index)
	if err != nil {
		return nil, err
	}
	return x.Snapshot()
}
