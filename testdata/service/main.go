// Command service is an example of a service that embeds heddle. It answers queries on an
// index and predicates on a bitmap table over HTTP.
//
//	service -index books.hdl -table loans.hdb -listen localhost:8080
//	curl 'localhost:8080/search?q=heaven+earth'
//	curl 'localhost:8080/count?where=days+>+30'
//	curl localhost:8080/metrics
//	curl -X POST localhost:8080/reload # after books.hdl was replaced
package main

import (
	"context"
	"encoding/json"
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
	"heddle/engine/plan"
)

func main() {
	index := flag.String("index", "", "index file (.hdl)")
	table := flag.String("table", "", "table file (.hdb)")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	timeout := flag.Duration("timeout", time.Second, "timeout of a query")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *index, *table, *listen, *timeout); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends. It returns after the last answer.
func run(ctx context.Context, index, table, listen string, timeout time.Duration) error {
	metrics := heddleprometheus.New()
	e, err := engine.New(ctx, engine.Options{Timeout: timeout, Observer: metrics})
	if err != nil {
		return err
	}
	defer e.Close() // closes index and table
	metrics.Watch(e.Stats)
	x, err := e.OpenIndex(ctx, index, engine.IndexOptions{})
	if err != nil {
		return err
	}
	t, err := e.OpenTable(ctx, table, engine.TableOptions{})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	log.Printf("%s and %s on http://%s", index, table, listener.Addr())
	server := &http.Server{Handler: handler(x, t, index, metrics)}
	drained := make(chan error, 1) // the engine stays open until the last answer
	go func() {
		<-ctx.Done()
		drained <- server.Shutdown(context.Background())
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return <-drained
}

// handler serves these routes:
//
//	GET /search?q=TEXT      names of the documents with all words of TEXT
//	GET /count?where=PREDICATE  number of rows
//	POST /reload            opens the index file again while queries run
//	GET /metrics            metrics for Prometheus
func handler(x *engine.Index, t *engine.Table, index string, metrics *heddleprometheus.Metrics) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		names, err := search(x, r)
		if err != nil {
			fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"count": len(names), "documents": names})
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		rows, err := t.Select(r.Context(), engine.Selection{Where: r.FormValue("where"), Output: plan.OutputCounts})
		if err != nil {
			fail(w, err)
			return
		}
		fmt.Fprintln(w, rows.Count)
	})
	mux.HandleFunc("POST /reload", func(w http.ResponseWriter, r *http.Request) {
		if err := x.Reload(r.Context(), index); err != nil {
			fail(w, err)
		}
	})
	return mux
}

// search answers a query on a snapshot, so that documents and names belong to the same file
// during a reload. Each client is a caller, and callers share the processors evenly.
func search(x *engine.Index, r *http.Request) ([]string, error) {
	s, err := x.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	client, _, _ := net.SplitHostPort(r.RemoteAddr)
	hits, err := s.Search(r.Context(), engine.Query{Text: r.FormValue("q"), Match: engine.And, Caller: client})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(hits.Docs))
	for i, d := range hits.Docs {
		if names[i], err = s.File().DocName(d); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// fail writes an error with the HTTP status of its code.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch engine.CodeOf(err) {
	case engine.InvalidQuery:
		status = http.StatusBadRequest
	case engine.Overloaded:
		status = http.StatusTooManyRequests
	case engine.Deadline:
		status = http.StatusGatewayTimeout
	}
	http.Error(w, err.Error(), status)
}
