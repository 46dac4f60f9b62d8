// Command service answers boolean queries over a heddle index by HTTP: an example
// of embedding the engine.
//
//	service -index books.hdl -listen localhost:8080
//	curl 'localhost:8080/search?q=heaven+earth'
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"

	"heddle/engine"
)

func main() {
	index := flag.String("index", "", "index file (.hdl)")
	listen := flag.String("listen", "localhost:8080", "address to listen on")
	flag.Parse()
	if err := run(*index, *listen); err != nil {
		log.Fatal(err)
	}
}

func run(index, listen string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	x, err := engine.Open(ctx, index, engine.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	log.Printf("%s on %s", index, x.Backend().Device)
	server := &http.Server{Addr: listen, Handler: handler(x)}
	drained := make(chan error, 1) // the index must stay open until the last answer is out
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
// contain every word of TEXT.
func handler(x *engine.Index) http.Handler {
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
	return mux
}
