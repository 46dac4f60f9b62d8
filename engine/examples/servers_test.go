package examples

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"heddle/engine"
	"heddle/engine/server"
)

// A program serves the interface of heddle serve beside its own routes.
func Example_servers() {
	ctx := context.Background()
	folder, index, table := files(ctx)
	defer os.RemoveAll(folder)

	e := must(engine.New(ctx, engine.Options{}))
	defer e.Close()
	s := must(server.New(e, server.Options{Indexes: map[string]string{"books": index}, Tables: map[string]string{"years": table}}))
	check(s.Load(ctx))
	routes := http.NewServeMux()
	routes.Handle("/v1/", s.Handler())
	routes.HandleFunc("/hello", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") })
	web := httptest.NewServer(routes) // a service calls http.Serve or server.Server.Serve
	defer web.Close()

	for _, path := range []string{"/hello", "/v1/tables/years/count"} {
		body := strings.NewReader(`{"where":"lang = 'en'"}`)
		answer := must(http.Post(web.URL+path, "application/json", body))
		defer answer.Body.Close()
		fmt.Println(answer.Status, strings.Contains(string(must(io.ReadAll(answer.Body))), `"count":3`))
	}
	// Output:
	// 200 OK false
	// 200 OK true
}
