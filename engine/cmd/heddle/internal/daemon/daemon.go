// Package daemon runs a server until a signal ends it, and reads changed files again.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"go.opentelemetry.io/otel/trace"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/cluster/collections"
	"heddle/engine/console"
	"heddle/engine/index/synonym"
	"heddle/engine/observe"
	"heddle/engine/observe/meter"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/observe/tracing"
	"heddle/engine/server"
	"heddle/engine/server/access"
	"heddle/engine/server/monitor"
	"heddle/engine/server/peers"
	"heddle/engine/server/watch"
)

// Options of a daemon.
type Options struct {
	Config *config.Config
	// Sources of the configuration, which the daemon reads again.
	Sources config.Sources
	// Read is the result of Look from before the configuration was read.
	Read   map[string]os.FileInfo
	Stdout io.Writer // receives the addresses
	// Version and Revision of the program, for metrics.
	Version, Revision string
	Log               zerolog.Logger
	// Open opens the processors, and Close closes them.
	Open  func(context.Context, engine.Options) (*engine.Engine, error)
	Close func(engine.Options, *engine.Engine) error
	// Ready is called when the files are in service.
	Ready func() error
	// Traces returns the provider of tracers that sends to a URL, and a function that sends the last traces.
	Traces func(ctx context.Context, url string, log zerolog.Logger) (trace.TracerProvider, func() error, error)
	// Machine describes the machine for the web console.
	Machine func(context.Context) (*api.Machine, error)
	// Synonyms reads the synonyms of a configuration, and returns the states of their files from before. Default: nil, they
	// are not read again.
	Synonyms func(*config.Config) (all map[string]*synonym.Rules, read map[string]os.FileInfo, err error)
	// SynonymsRead are these states at the start.
	SynonymsRead map[string]os.FileInfo
	// Collections follow their changes. Default: none.
	Collections *collections.Set
	// Content is the content of the folder server.dev that is served from the start.
	Content Content
}

// Daemon is a server that runs until a signal ends it.
type Daemon struct {
	Options
	server          *server.Server
	reading         sync.Mutex                    // held by reconfigure, so that the content read last stays
	newest          atomic.Pointer[config.Config] // configuration of the last reload
	synonyms        atomic.Pointer[map[string]os.FileInfo]
	guard           *access.Guard
	metrics         *heddleprometheus.Metrics // metrics of the engine
	slow            *monitor.SlowQueries
	listener, admin net.Listener // admin is nil without administration
}

// Look returns the state of the configuration's file.
func Look(s config.Sources) map[string]os.FileInfo {
	if s.File != "" {
		return watch.Look(s.File)
	}
	return map[string]os.FileInfo{}
}

// New reads tokens and certificates and opens the addresses. Run or Discard closes them.
func New(ctx context.Context, o Options) (d *Daemon, err error) {
	v := o.Config.Server
	files := access.Files{Tokens: v.Tokens, Cert: v.Cert, Key: v.Key, ClientCA: v.ClientCa, AdminCA: v.AdminCa}
	maps.Copy(o.Read, watch.Look(files.Names()...))
	d = &Daemon{Options: o}
	d.newest.Store(o.Config)
	d.synonyms.Store(&d.SynonymsRead)
	if d.guard, err = access.Open(files); err != nil {
		return nil, err
	}
	return d, d.listen(ctx, v)
}

// Run opens the processors and serves until ctx ends. It closes the addresses.
func (d *Daemon) Run(ctx context.Context, opt server.Options) (err error) {
	opt.Access, opt.Settings = d.guard, d.values
	opt.Limits.Connections = peers.Fit(opt.Limits.Connections, d.listeners(), d.Log)
	engineOpt, err := engine.OptionsOf(d.Config)
	engineOpt.Log = &d.Log
	if err != nil {
		return errors.Join(err, d.Discard())
	}
	if opt.Remote != nil { // the nodes have the devices
		engineOpt.Backend = "host"
	}
	opt.Meter, opt.Machine = new(meter.Meter), d.Machine
	if d.Config.Server.Console {
		opt.Console = console.Handler()
	}
	flush, err := d.observe(ctx, &engineOpt, &opt)
	if err != nil {
		return errors.Join(err, d.Discard())
	}
	defer func() { err = errors.Join(err, flush()) }()
	if d.server, err = server.New(nil, opt); err != nil {
		return errors.Join(err, d.Discard())
	}
	return d.serve(ctx, engineOpt)
}

// observe adds the reports of queries to the options. Flush sends the last traces.
func (d *Daemon) observe(ctx context.Context, e *engine.Options, s *server.Options) (flush func() error, err error) {
	d.metrics = heddleprometheus.New()
	d.slow = monitor.NewSlowQueries(d.Log, d.Config.Server.SlowQuery)
	e.Observer = observe.All(e.Observer, d.metrics, s.Meter, d.slow)
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: heddleprometheus.Namespace, Name: "build_info", Help: "1, with the version and the revision of the program.",
		ConstLabels: prometheus.Labels{"version": d.Version, "revision": d.Revision}}, func() float64 { return 1 })
	s.Collectors = []prometheus.Collector{d.metrics, build}
	flush = func() error { return nil }
	if url := d.Config.Server.Traces; url != "" {
		if s.Tracer, flush, err = d.Traces(ctx, url, d.Log); err != nil {
			return nil, err
		}
		e.Observer = observe.All(e.Observer, tracing.New(s.Tracer))
	}
	return flush, nil
}

// serve serves until ctx ends. It answers probes while it opens the processors and the files.
func (d *Daemon) serve(ctx context.Context, opt engine.Options) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var served error
	ended := make(chan struct{})
	go func() {
		served = d.server.Serve(ctx, d.listener, d.admin)
		close(ended)
	}()
	e, err := d.open(ctx, opt)
	if err == nil {
		d.follow(ctx, hangup, ended)
	}
	stop()
	<-ended
	err = errors.Join(err, served)
	if e != nil {
		err = errors.Join(err, d.Close(opt, e))
	}
	return err
}

// open opens the processors and the files. The engine is nil if there are no processors.
func (d *Daemon) open(ctx context.Context, opt engine.Options) (*engine.Engine, error) {
	if err := d.announce(); err != nil {
		return nil, err
	}
	e, err := d.Open(ctx, opt)
	if err != nil {
		return nil, err
	}
	d.metrics.Watch(e.Stats)
	d.server.Use(e)
	if err := d.server.Load(ctx); err != nil {
		return e, err
	}
	return e, d.Ready()
}

// follow reads changed files again until the server has ended.
func (d *Daemon) follow(ctx context.Context, hangup <-chan os.Signal, ended <-chan struct{}) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if d.Collections != nil {
		tasks.Go(func() { d.Collections.Run(ctx) })
	}
	v := d.Config.Server
	folder := d.newFolder()
	if v.Watch && v.Dev != "" {
		tasks.Go(func() { folder.follow(ctx) })
	}
	if v.Poll > 0 && v.Watch {
		tasks.Go(func() {
			watch.Files(ctx, v.Poll, d.server.Files, func(names []string) []string {
				d.note(d.server.Reload(ctx, names...))
				return nil
			})
		})
	}
	tasks.Go(func() {
		watch.Reload(ctx, v.Poll, d.files, hangup, d.Log,
			func() { d.note(d.reconfigure(ctx)) },
			func() {
				if v.Dev != "" {
					folder.look(ctx, true)
				}
				d.note(errors.Join(d.reconfigure(ctx), d.server.Reload(ctx)))
			})
	})
	<-ended
}

// files are the states of the files that reconfigure reads, from before they were read.
func (d *Daemon) files() map[string]os.FileInfo {
	all := maps.Clone(d.Read)
	maps.Copy(all, *d.synonyms.Load())
	return all
}

// listeners returns the number of addresses.
func (d *Daemon) listeners() int {
	if d.admin == nil {
		return 1
	}
	return 2
}

// announce prints the addresses.
func (d *Daemon) announce() error {
	scheme := "http"
	if d.guard.TLS(false) != nil {
		scheme = "https"
	}
	said := fmt.Sprintf("listening on %s://%s\n", scheme, d.listener.Addr())
	if d.admin != nil {
		said += fmt.Sprintf("administration on %s://%s\n", scheme, d.admin.Addr())
	}
	_, err := io.WriteString(d.Stdout, said)
	return err
}

// reconfigure reads the configuration, the tokens, the certificates and the synonyms again. Of the configuration
// it applies the limits, the time of slow queries, the level of messages and the files of synonyms.
func (d *Daemon) reconfigure(ctx context.Context) error {
	d.reading.Lock()
	defer d.reading.Unlock()
	err := d.guard.Reload()
	c, wrong := config.Load(d.Sources)
	if wrong == nil {
		limits := server.LimitsOf(&c.Server)
		limits.Connections = peers.Fit(limits.Connections, d.listeners(), d.Log)
		if wrong = d.server.SetLimits(limits); wrong == nil {
			SetLevel(c.Log)
			d.slow.Set(c.Server.SlowQuery)
			d.newest.Store(c)
			wrong = d.readSynonyms(ctx, c)
		}
	}
	return errors.Join(err, wrong)
}

func (d *Daemon) readSynonyms(ctx context.Context, c *config.Config) error {
	if d.Synonyms == nil {
		return nil
	}
	all, read, err := d.Synonyms(c)
	d.synonyms.Store(&read)
	if err == nil {
		err = d.server.SetSynonyms(ctx, all)
	}
	if err != nil {
		return fmt.Errorf("server.synonyms: %w", err)
	}
	return nil
}

// values returns all settings: their present values if reconfigure applies them, else those at the
// start.
func (d *Daemon) values() (all []*api.Setting) {
	for _, k := range config.Keys() {
		c := d.Config
		if strings.HasPrefix(k.Name, "server.max_") || k.Name == "server.memory" || k.Name == "server.slow_query" || k.Name == "server.synonyms" || k.Name == "log.level" {
			c = d.newest.Load()
		}
		all = append(all, &api.Setting{Key: k.Name, Value: fmt.Sprint(k.Get(c)), Origin: c.Origin(k.Name).String()})
	}
	return all
}

// note logs the result of a reload.
func (d *Daemon) note(err error) {
	if err != nil {
		d.Log.Error().Err(err).Msg("reload failed: the old content stays in service")
		return
	}
	d.Log.Info().Msg("reloaded")
}

// SetLevel sets the lowest level of messages.
func SetLevel(c config.Log) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil { // package config has checked the level
		panic(err)
	}
	zerolog.SetGlobalLevel(level)
}

// listen opens the addresses of the server.
func (d *Daemon) listen(ctx context.Context, v config.Server) (err error) {
	if d.listener, err = access.Listen(ctx, v, d.guard, d.Log); err != nil || v.Admin == "" {
		return err
	}
	if d.admin, err = access.ListenAdmin(ctx, v, d.guard); err != nil {
		return errors.Join(err, d.Discard())
	}
	return nil
}

// Discard closes the addresses of a server that does not start.
func (d *Daemon) Discard() (err error) {
	for _, l := range []net.Listener{d.listener, d.admin} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}
