// Command service answers queries over a heddle index, and predicates on a bitmap table,
// by HTTP: an example of embedding the engine.
//
//	service -index books.hdl -table loans.hdb -listen localhost:8080
//	curl 'localhost:8080/search?q=heaven+earth'
//	curl 'localhost:8080/count?where=days+>+30'
//	curl localhost:8080/metrics
//	curl -X POST localhost:8080/reload # once there is another books.hdl
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"heddle/engine"
	heddleprometheus "heddle/engine/observe/prometheus"
	"heddle/engine/schedule"
	"heddle/engine/table/predicate"
)

func main() {
	index := flag.String("index", "", "index file (.hdl)")
	table := flag.String("table", "", "table file (.hdb)")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	timeout := flag.Duration("timeout", time.Second, "time for a query")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *index, *table, *listen, *timeout); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends and the last answer is out.
func run(ctx context.Context, index, table, listen string, timeout time.Duration) error {
	metrics := heddleprometheus.New()
	e, err := engine.Start(ctx, index, engine.EngineOptions{Timeout: timeout, Observer: metrics})
	if err != nil {
		return err
	}
	defer e.Close()
	metrics.Watch(e.Stats)
	t, err := engine.OpenTable(ctx, table, engine.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	log.Printf("%s and %s on http://%s", index, table, listener.Addr())
	server := &http.Server{Handler: handler(e, t, index, metrics)}
	drained := make(chan error, 1) // engine and table must stay open until the last answer is out
	go func() {
		<-ctx.Done()
		drained <- server.Shutdown(context.Background())
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return <-drained
}

// handler answers
//
//	GET /search?q=TEXT      names of the documents that contain every word of TEXT
//	GET /count?where=PREDICATE  number of rows
//	POST /reload            reads the index file again; queries go on meanwhile
//	GET /metrics            numbers for Prometheus
func handler(e *engine.Engine, t *engine.Table, index string, metrics *heddleprometheus.Metrics) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		names, err := search(e, r)
		if err != nil {
			fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"count": len(names), "documents": names})
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		rows, err := t.Count(r.Context(), r.FormValue("where"))
		if err != nil {
			fail(w, err)
			return
		}
		fmt.Fprintln(w, rows)
	})
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		if err := e.Reload(r.Context(), index); err != nil {
			fail(w, err)
		}
	})
	return mux
}

// search asks the engine. The view holds documents and their names together, whatever
// reloads meanwhile; as callers, clients share the processors evenly.
func search(e *engine.Engine, r *http.Request) ([]string, error) {
	v, err := e.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	answer, err := v.Search(r.Context(), engine.Query{Text: r.FormValue("q")}, engine.SearchOptions{}, engine.Call{Caller: client})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(answer.Docs))
	for i, d := range answer.Docs {
		names[i] = v.Index().File().DocName(d)
	}
	return names, nil
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	wrong := (*predicate.SyntaxError)(nil)
	switch {
	case errors.As(err, &wrong):
		code = http.StatusBadRequest
	case errors.Is(err, schedule.ErrFull): // more is asked than can be answered
		code = http.StatusTooManyRequests
	case errors.Is(err, schedule.ErrDeadline):
		code = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), code)
}
