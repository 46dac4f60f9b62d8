package member

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"heddle/config"
	"heddle/engine"
	"heddle/engine/cluster/fetch"
	"heddle/engine/cluster/store"
	"heddle/engine/server/access"
	"heddle/engine/server/peers"
	"heddle/engine/server/watch"
)

// nodeWeb is the HTTP side of a node: calls, files and probes.
type nodeWeb struct {
	settings config.Server
	guard    *access.Guard
	files    map[string]os.FileInfo // files of the guard, with their states before the guard read them
	listener net.Listener
	server   *http.Server
	url      string // for other machines
	draining atomic.Bool
	log      zerolog.Logger
}

// openNodeWeb reads the files of access and opens the address of a node.
func openNodeWeb(ctx context.Context, c *config.Config, log zerolog.Logger) (w *nodeWeb, err error) {
	v := c.Server
	files := access.Files{Tokens: v.Tokens, Cert: v.Cert, Key: v.Key, ClientCA: v.ClientCa}
	w = &nodeWeb{settings: v, files: watch.Look(files.Names()...), log: log}
	if w.guard, err = access.Open(files); err != nil {
		return nil, err
	}
	if w.listener, err = access.Listen(ctx, v, w.guard, log); err != nil {
		return nil, err
	}
	w.url = cmp.Or(c.Cluster.Url, w.at())
	if at, ok := w.listener.Addr().(*net.TCPAddr); ok && at.IP.IsUnspecified() && c.Cluster.Url == "" {
		err = invalid(fmt.Errorf("--listen %s is for all networks: set cluster.url to the URL at which other machines reach the node", v.Listen))
		return nil, errors.Join(err, w.listener.Close())
	}
	return w, nil
}

// at returns the URL of the address.
func (w *nodeWeb) at() string {
	if w.guard.TLS(false) != nil {
		return "https://" + w.listener.Addr().String()
	}
	return "http://" + w.listener.Addr().String()
}

// use makes the server of the address.
func (w *nodeWeb) use(rpc *connect.Server, k *store.Keeper, metrics *prometheus.Registry) {
	w.server = w.guard.Server(w.handler(rpc, k, metrics), false, w.settings.Stall, &w.log)
	w.server.ConnContext = peers.Context
}

// handler answers calls, gives files to other nodes, shows metrics, and answers probes, which need no token.
func (w *nodeWeb) handler(rpc *connect.Server, k *store.Keeper, metrics *prometheus.Registry) http.Handler {
	guarded := http.NewServeMux()
	connecthttp.Mount(guarded, rpc)
	guarded.Handle("/files/", fetch.Handler(k.Find))
	guarded.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(rw http.ResponseWriter, r *http.Request) {
		if _, err := w.guard.Check(r, access.Read); err != nil {
			status := http.StatusForbidden
			if engine.CodeOf(err) == engine.Unauthenticated {
				status = http.StatusUnauthorized
				rw.Header().Set("Connection", "close")
			}
			http.Error(rw, err.Error(), status)
			return
		}
		conn := peers.Of(r.Context())
		conn.Begin(false)
		defer conn.End()
		guarded.ServeHTTP(rw, r)
	})
	mux.HandleFunc("GET /livez", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		err := k.Ready()
		if w.draining.Load() {
			err = errors.New("the node drains")
		}
		if err != nil {
			http.Error(rw, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(rw, "ok")
	})
	return mux
}

// serve answers requests until Shutdown. Connections without an authorised request are the first to
// make room for further ones.
func (w *nodeWeb) serve() error {
	limits := peers.Limits{Connections: w.settings.MaxConnections, Address: w.settings.MaxAddressConnections}
	refused := func(limit string) { w.log.Debug().Str("limit", limit).Msg("connection refused") }
	return access.Serve(w.server, peers.NewListener(w.listener, func() peers.Limits { return limits }, refused))
}

// follow reads the files of access again after a change and after SIGHUP, until ctx ends.
func (w *nodeWeb) follow(ctx context.Context) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	reload := func() {
		if err := w.guard.Reload(); err != nil {
			w.log.Error().Err(err).Msg("reload failed: the old tokens and certificates stay in force")
			return
		}
		w.log.Info().Msg("reloaded")
	}
	watch.Reload(ctx, w.settings.Poll, func() map[string]os.FileInfo { return w.files }, hangup, w.log, reload, reload)
}
