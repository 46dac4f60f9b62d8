package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"heddle/config"
	"heddle/engine/server"
)

type serveOptions struct {
	flagsOnly
	settings
	indexes, tables []string // NAME=FILE
}

func newServe(a *App) *cobra.Command {
	return a.command(&cobra.Command{
		Use:   "serve (--index NAME=FILE | --table NAME=FILE | --dev DIR)… [flags]",
		Short: "Serve indexes and tables over HTTP and gRPC",
		Long: `Serve answers queries on indexes and tables for other programs, in any language: HTTP with
JSON, Connect, gRPC and gRPC-Web on one port, HTTP/1.1 and HTTP/2 without TLS. GET
/openapi.json describes the routes; engine/server/README.md has examples.

--dev serves every .hdl and .hdb file of a folder under its base name. --index and --table
replace the keys server.indexes and server.tables of the configuration, which also holds
the limits of requests in section [server].

When the files are in service, standard output gets the line
"listening on http://ADDRESS", and with --admin "administration on http://ADDRESS".
Before, GET /livez succeeds and GET /readyz fails.

The server does not authenticate its clients. It refuses an address that is not loopback
unless --insecure is given. --admin serves reload and drain on another address.

SIGTERM drains the server: it reports not ready, still answers for --drain-delay, finishes
the running requests, and ends. A second signal ends it at once. SIGHUP opens all files
again and changes to their new contents without a gap; a file with an error leaves the old
content in service.`,
		Example: `  heddle serve --index books=books.hdl --table flights=flights.hdb
  heddle serve --dev . --listen 127.0.0.1:0 --admin 127.0.0.1:0`,
	}, &serveOptions{})
}

func (o *serveOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringArrayVar(&o.indexes, "index", nil, "serve the index `NAME=FILE`; repeatable")
	fs.StringArrayVar(&o.tables, "table", nil, "serve the table `NAME=FILE`; repeatable")
	o.add(fs, "dev", "listen", "admin", "insecure", "timeout", "drain-delay", "backend", "device", "threads", "tuning", "schedule")
}

func (o *serveOptions) Run(ctx context.Context, a *App) (err error) {
	c, log, err := o.load(a)
	if err != nil {
		return err
	}
	opt, err := o.options(c, log)
	if err != nil {
		return usageError{err}
	}
	listener, admin, err := listen(ctx, c.Server)
	if err != nil {
		return err
	}
	engineOpt, err := engineOptions(c, log)
	if err != nil {
		return errors.Join(err, closeAll(listener, admin))
	}
	e, err := a.newEngine(ctx, engineOpt)
	if err != nil {
		return errors.Join(err, closeAll(listener, admin))
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s, err := server.New(e, opt)
	if err != nil {
		return errors.Join(err, closeAll(listener, admin))
	}
	return a.serve(ctx, s, listener, admin, log)
}

// serve runs s until ctx ends.
func (a *App) serve(ctx context.Context, s *server.Server, listener, admin net.Listener, log zerolog.Logger) error {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, listener, admin) }()
	if err := s.Load(ctx); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	said := fmt.Sprintf("listening on http://%s\n", listener.Addr())
	if admin != nil {
		said += fmt.Sprintf("administration on http://%s\n", admin.Addr())
	}
	if _, err := io.WriteString(a.Stdout, said); err != nil {
		stop()
		return errors.Join(err, <-served)
	}
	var reloads sync.WaitGroup
	defer reloads.Wait()
	for {
		select {
		case <-hangup:
			reloads.Go(func() {
				if err := s.Reload(ctx); err != nil {
					log.Error().Err(err).Msg("reload failed: the old content stays in service")
				}
			})
		case err := <-served:
			stop()
			return err
		}
	}
}

// options returns the options of the server.
func (o *serveOptions) options(c *config.Config, log zerolog.Logger) (server.Options, error) {
	v := c.Server
	opt := server.Options{
		Indexes: map[string]string{}, Tables: map[string]string{},
		Timeout: v.Timeout, Stall: v.Stall, DrainDelay: v.DrainDelay, Log: &log,
		Limits: server.Limits{Body: int64(v.MaxBody), Batch: v.MaxBatch, K: v.MaxK, Terms: v.MaxTerms, Documents: v.MaxDocuments, Concurrency: v.MaxConcurrency},
	}
	for _, f := range []struct {
		key, text string
		flags     []string
		to        map[string]string
		extension string
	}{
		{"index", v.Indexes, o.indexes, opt.Indexes, ".hdl"},
		{"table", v.Tables, o.tables, opt.Tables, ".hdb"},
	} {
		files := f.flags
		if files == nil && f.text != "" {
			files = strings.Split(f.text, ",")
		}
		if v.Dev != "" {
			found, err := filesOf(v.Dev, f.extension)
			if err != nil {
				return opt, err
			}
			files = append(slices.Clone(files), found...)
		}
		for _, text := range files {
			if err := addFile(f.to, strings.TrimSpace(text)); err != nil {
				return opt, fmt.Errorf("--%s: %w", f.key, err)
			}
		}
	}
	if len(opt.Indexes)+len(opt.Tables) == 0 {
		if v.Dev != "" {
			return opt, fmt.Errorf("folder %s has no .hdl and no .hdb file", v.Dev)
		}
		return opt, errors.New("nothing to serve: give --index, --table or --dev")
	}
	return opt, nil
}

// addFile adds NAME=FILE to files.
func addFile(files map[string]string, text string) error {
	name, path, ok := strings.Cut(text, "=")
	if !ok || path == "" {
		return fmt.Errorf("%q: want NAME=FILE", text)
	}
	if err := server.CheckName(name); err != nil {
		return err
	}
	if old, taken := files[name]; taken {
		return fmt.Errorf("%s and %s have the same name %s", old, path, name)
	}
	files[name] = path
	return nil
}

// filesOf returns the files of a folder that end in an extension, as NAME=FILE.
func filesOf(dir, extension string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), extension); ok && !e.IsDir() {
			files = append(files, name+"="+filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// listen opens the addresses of the server.
func listen(ctx context.Context, v config.Server) (service, admin net.Listener, err error) {
	if service, err = listenAt(ctx, "listen", v.Listen, v.Insecure); err != nil || v.Admin == "" {
		return service, nil, err
	}
	if admin, err = listenAt(ctx, "admin", v.Admin, v.Insecure); err != nil {
		return nil, nil, errors.Join(err, closeAll(service))
	}
	return service, admin, nil
}

// listenAt opens an address, which must be loopback unless insecure is set.
func listenAt(ctx context.Context, name, address string, insecure bool) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usageError{fmt.Errorf("--%s: %w", name, err)}
	}
	ip := net.ParseIP(host)
	if !insecure && host != "localhost" && !ip.IsLoopback() {
		return nil, usageError{fmt.Errorf("--%s: %s is not a loopback address, and the server does not authenticate its clients; --insecure serves all that reach it", name, address)}
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}

func closeAll(listeners ...net.Listener) (err error) {
	for _, l := range listeners {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}
