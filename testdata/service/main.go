// Command service answers queries over a heddle index, and predicates on a bitmap table,
// by HTTP: an example of embedding the engine.
//
//	service -index books.hdl -table loans.hdb -listen localhost:8080
//	curl 'localhost:8080/search?q=heaven+earth'
//	curl 'localhost:8080/count?where=days+>+30'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"

	"heddle/engine"
	"heddle/engine/predicate"
)

func main() {
	index := flag.String("index", "", "index file (.hdl)")
	table := flag.String("table", "", "table file (.hdb)")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()
	if err := run(*index, *table, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(index, table, listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	x, err := engine.Open(ctx, index, engine.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	t, err := engine.OpenTable(ctx, table, engine.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	log.Printf("%s and %s on %s", index, table, x.Backend().Device)
	server := &http.Server{Addr: listen, Handler: handler(x, t)}
	drained := make(chan error, 1) // both must stay open until the last answer is out
	go func() {
		<-ctx.Done()
		drained <- server.Shutdown(context.Background())
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		return err
	}
	return <-drained
}

// handler answers GET /search?q=TEXT with the names of the documents that
// contain every word of TEXT, and GET /count?where=PREDICATE with the number of rows.
func handler(x *engine.Index, t *engine.Table) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		answer, err := x.Search(r.Context(), engine.Query{Text: r.FormValue("q")}, engine.SearchOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		names := make([]string, len(answer.Docs))
		for i, d := range answer.Docs {
			names[i] = x.File().DocName(d)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"count": answer.Count, "documents": names})
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, r *http.Request) {
		rows, err := t.Count(r.Context(), r.FormValue("where"))
		if wrong := (*predicate.SyntaxError)(nil); errors.As(err, &wrong) {
			http.Error(w, err.Error(), http.StatusBadRequest)
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		} else {
			fmt.Fprintln(w, rows)
		}
	})
	return mux
}
