package main

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

	"heddle/config"
	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/collection/view"
	"heddle/engine/observe"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/observe/tracing"
	"heddle/engine/server"
	"heddle/engine/server/access"
	"heddle/engine/server/monitor"
	"heddle/engine/server/watch"
)

// daemon is a server that runs until a signal ends it.
type daemon struct {
	*server.Server
	settings        *settings
	app             *App
	started         *config.Config
	newest          atomic.Pointer[config.Config] // configuration of the last reload
	guard           *access.Guard
	read            map[string]os.FileInfo    // files that reconfigure reads, with their states before the start
	metrics         *heddleprometheus.Metrics // metrics of the engine
	slow            *monitor.SlowQueries
	log             zerolog.Logger
	collections     *view.Service // nil: none
	listener, admin net.Listener  // admin is nil without administration
}

// look returns the state of the configuration's file.
func (s *settings) look(a *App) map[string]os.FileInfo {
	if file := s.sources(a).File; file != "" {
		return watch.Look(file)
	}
	return map[string]os.FileInfo{}
}

// newDaemon reads tokens and certificates and opens the addresses. Read is the result of look from
// before the configuration was read.
func newDaemon(ctx context.Context, a *App, s *settings, c *config.Config, log zerolog.Logger, read map[string]os.FileInfo) (d *daemon, err error) {
	v := c.Server
	files := access.Files{Tokens: v.Tokens, Cert: v.Cert, Key: v.Key, ClientCA: v.ClientCa, AdminCA: v.AdminCa}
	maps.Copy(read, watch.Look(files.Names()...))
	d = &daemon{settings: s, app: a, started: c, read: read, log: log}
	d.newest.Store(c)
	if d.guard, err = access.Open(files); err != nil {
		return nil, err
	}
	return d, d.listen(ctx, v)
}

// serve opens the processors and serves until ctx ends. It closes the addresses.
func (d *daemon) serve(ctx context.Context, opt server.Options) (err error) {
	opt.Access, opt.Settings = d.guard, d.values
	opt.Limits = opt.Limits.Fit(d.listeners(), d.log)
	engineOpt, err := engineOptions(d.started, d.log)
	if err != nil {
		return errors.Join(err, d.close())
	}
	if opt.Remote != nil { // the nodes have the devices
		engineOpt.Backend = "host"
	}
	d.show(&opt)
	flush, err := d.observe(ctx, &engineOpt, &opt)
	if err != nil {
		return errors.Join(err, d.close())
	}
	defer func() { err = errors.Join(err, flush()) }()
	if d.Server, err = server.New(nil, opt); err != nil {
		return errors.Join(err, d.close())
	}
	return d.run(ctx, engineOpt)
}

// observe adds the reports of queries to the options. Flush sends the last traces.
func (d *daemon) observe(ctx context.Context, e *engine.Options, s *server.Options) (flush func() error, err error) {
	d.metrics = heddleprometheus.New()
	d.slow = monitor.NewSlowQueries(d.log, d.started.Server.SlowQuery)
	e.Observer = observe.All(e.Observer, d.metrics, s.Meter, d.slow)
	s.Collectors = []prometheus.Collector{d.metrics}
	flush = func() error { return nil }
	if url := d.started.Server.Traces; url != "" {
		if s.Tracer, flush, err = traces(ctx, url, d.log); err != nil {
			return nil, err
		}
		e.Observer = observe.All(e.Observer, tracing.New(s.Tracer))
	}
	return flush, nil
}

// run serves until ctx ends. It answers probes while it opens the processors and the files.
func (d *daemon) run(ctx context.Context, opt engine.Options) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var served error
	ended := make(chan struct{})
	go func() {
		served = d.Serve(ctx, d.listener, d.admin)
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
		err = errors.Join(err, closeEngine(opt, e))
	}
	return err
}

// open opens the processors and the files. The engine is nil if there are no processors.
func (d *daemon) open(ctx context.Context, opt engine.Options) (*engine.Engine, error) {
	if err := d.announce(); err != nil {
		return nil, err
	}
	e, err := d.app.newEngine(ctx, opt)
	if err != nil {
		return nil, err
	}
	d.metrics.Watch(e.Stats)
	d.Use(e)
	if err := d.Load(ctx); err != nil {
		return e, err
	}
	return e, d.app.notify("READY=1")
}

// follow reads changed files again until the server has ended.
func (d *daemon) follow(ctx context.Context, hangup <-chan os.Signal, ended <-chan struct{}) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if d.collections != nil {
		tasks.Go(func() { d.collections.Run(ctx) })
	}
	v := d.started.Server
	if v.Poll > 0 && v.Watch {
		tasks.Go(func() {
			watch.Files(ctx, v.Poll, d.Files, func(names []string) []string {
				d.note(d.Reload(ctx, names...))
				return nil
			})
		})
	}
	tasks.Go(func() {
		watch.Reload(ctx, v.Poll, d.read, hangup,
			func() { d.note(d.reconfigure()) },
			func() { d.note(errors.Join(d.reconfigure(), d.Reload(ctx))) })
	})
	<-ended
}

// listeners returns the number of addresses.
func (d *daemon) listeners() int {
	if d.admin == nil {
		return 1
	}
	return 2
}

// announce prints the addresses.
func (d *daemon) announce() error {
	scheme := "http"
	if d.guard.TLS(false) != nil {
		scheme = "https"
	}
	said := fmt.Sprintf("listening on %s://%s\n", scheme, d.listener.Addr())
	if d.admin != nil {
		said += fmt.Sprintf("administration on %s://%s\n", scheme, d.admin.Addr())
	}
	_, err := io.WriteString(d.app.Stdout, said)
	return err
}

// reconfigure reads the configuration, the tokens and the certificates again. Of the configuration
// it applies the limits, the time of slow queries and the level of messages.
func (d *daemon) reconfigure() error {
	err := d.guard.Reload()
	c, wrong := config.Load(d.settings.sources(d.app))
	if wrong == nil {
		if wrong = d.SetLimits(server.LimitsOf(&c.Server).Fit(d.listeners(), d.log)); wrong == nil {
			setLevel(c.Log)
			d.slow.Set(c.Server.SlowQuery)
			d.newest.Store(c)
		}
	}
	return errors.Join(err, wrong)
}

// values returns all settings: their present values if reconfigure applies them, else the values
// of the start.
func (d *daemon) values() (all []*api.Setting) {
	for _, k := range config.Keys() {
		c := d.started
		if strings.HasPrefix(k.Name, "server.max_") || k.Name == "server.memory" || k.Name == "server.slow_query" || k.Name == "log.level" {
			c = d.newest.Load()
		}
		all = append(all, &api.Setting{Key: k.Name, Value: fmt.Sprint(k.Get(c)), Origin: c.Origin(k.Name).String()})
	}
	return all
}

// note logs the result of a reload.
func (d *daemon) note(err error) {
	if err != nil {
		d.log.Error().Err(err).Msg("reload failed: the old content stays in service")
		return
	}
	d.log.Info().Msg("reloaded")
}

// setLevel sets the lowest level of messages.
func setLevel(c config.Log) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil { // package config has checked the level
		panic(err)
	}
	zerolog.SetGlobalLevel(level)
}

// listen opens the addresses of the server.
func (d *daemon) listen(ctx context.Context, v config.Server) (err error) {
	if d.listener, err = access.Listen(ctx, v, d.guard, d.log); err != nil || v.Admin == "" {
		return err
	}
	if d.admin, err = access.ListenAdmin(ctx, v, d.guard); err != nil {
		return errors.Join(err, d.close())
	}
	return nil
}

// close closes the addresses of a server that does not start.
func (d *daemon) close() (err error) {
	for _, l := range []net.Listener{d.listener, d.admin} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}
