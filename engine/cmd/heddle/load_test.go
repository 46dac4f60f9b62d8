//go:build !core

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"

	"heddle/engine/api"
	"heddle/engine/bench/load"
)

// TestLoad measures a real server: a table with a plot, JSON, predicates, and drawn queries.
func TestLoad(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\n")
	writeFile(t, "flights.csv", "delay\n61\n2\n")
	writeFile(t, "queries.tsv", "1\theaven\n2\tearth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "bitmap", "build", "-o", "flights.hdb", "flights.csv")
	s := serve(t, "--dev", ".", "--drain-delay", "0s")
	defer s.end()
	at := []string{"load", s.url, "--rate", "100", "--duration", "100ms", "--request-timeout", "1m"}
	if out := must(t, append(at, "--index", "books", "--query", "heaven earth", "--plot", "load.svg")...); !strings.Contains(out, "latency, ms") || strings.Count(out, "\n") != 3 {
		t.Errorf("%s", out)
	}
	if text, err := os.ReadFile("load.svg"); err != nil || !strings.Contains(string(text), "books, search") {
		t.Errorf("plot: %v", err)
	}
	for _, args := range [][]string{
		{"--index", "books", "--queries", "queries.tsv", "--kind", "match", "--mode", "and"},
		{"--index", "books", "--draw", "books.hdl", "--kind", "count", "--http2"},
		{"--table", "flights", "--query", "delay >= 60"},
	} {
		out := must(t, append(append(at, "--json"), args...)...)
		var l load.Level
		if err := json.Unmarshal([]byte(out), &l); err != nil || l.Queries != 10 || l.Answered != 10 {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
}

// matches notes the modes of match requests.
type matches struct {
	api.UnimplementedIndexServiceHandler
	modes chan string
}

func (m matches) GetIndex(context.Context, *api.GetIndexRequest) (*api.Index, error) {
	return &api.Index{Ready: true}, nil
}

func (m matches) Match(_ context.Context, r *api.MatchRequest) (*api.MatchResponse, error) {
	select {
	case m.modes <- fmt.Sprint(r.GetMode(), " ", r.GetLiteral()):
	default:
	}
	return &api.MatchResponse{}, nil
}

// TestLoadBoolean: boolean queries have no scores and are in the query language, and AND joins their words
// unless --mode is given.
func TestLoadBoolean(t *testing.T) {
	for mode, want := range map[string]string{"": "and false", "or": "or false"} {
		m, calls := matches{modes: make(chan string, 1)}, connect.NewServer()
		api.RegisterIndexServiceHandler(calls, m)
		mux := http.NewServeMux()
		connecthttp.Mount(mux, calls)
		s := httptest.NewServer(mux)
		args := []string{"load", s.URL, "--index", "books", "--query", "a b", "--syntax", "boolean", "--rate", "100", "--duration", "50ms", "--request-timeout", "1m"}
		if mode != "" {
			args = append(args, "--mode", mode)
		}
		must(t, args...)
		if got := <-m.modes; got != want {
			t.Errorf("--mode %q: %s, want %s", mode, got, want)
		}
		s.Close()
	}
}

// TestUnreachable: each command has one exit code for a server or cluster that does not answer, and a file that is
// missing has another.
func TestUnreachable(t *testing.T) {
	inTempDir(t)
	wantFailure(t, heddle(t, "cluster", "status", "--cluster", "nats://127.0.0.1:1"), exitUnavailable, "nats://127.0.0.1:1")
	wantFailure(t, heddle(t, "cluster", "status", "--cluster", "nats://127.0.0.1:1", "--cluster-nkey", "absent"), exitFailure, "absent")
	wantFailure(t, heddle(t, "index", "info", "absent.hdl"), exitFailure, "absent.hdl")
}

// TestLoadWrong checks wrong options.
func TestLoadWrong(t *testing.T) {
	inTempDir(t)
	writeFile(t, "empty.txt", "")
	writeFile(t, "vector.jsonl", `{"vector": {"a": 1}}`+"\n")
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, "URL is missing"},
		{"localhost:7700 --index a --query b", exitUsage, `"localhost:7700": want http://HOST:PORT`},
		{"http://h", exitUsage, "give either --index or --table"},
		{"http://h --index a --table b", exitUsage, "give either --index or --table"},
		{"http://h --index a", exitUsage, "give one of --query, --queries and --draw"},
		{"http://h --table a --draw x.hdl", exitUsage, "--draw is for an index"},
		{"http://h --index a --query b --kind fetch", exitUsage, `--kind: unknown kind "fetch" (one of search match count)`},
		{"http://h --duration soon", exitUsage, `heddle load: flag --duration: "soon" is not a duration (like "500ms" or "2s")`},
		{"http://h --index a --query b --batch 0", exitUsage, "must be positive"},
		{"http://h --index a --query b --cert c", exitUsage, "--cert and --key belong together"},
		{"http://h --index a --query b --ca absent.pem", exitUsage, "absent.pem"},
		{"http://h --index a --queries empty.txt", exitFailure, "empty.txt has no queries"},
		{"http://h --index a --queries vector.jsonl", exitCorrupt, "vector.jsonl:1: load sends texts, not vectors"},
		{"http://127.0.0.1:1 --index a --query b", exitUnavailable, "connection refused"},
	} {
		if r := heddle(t, append([]string{"load"}, strings.Fields(c.args)...)...); r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("load %s: %+v, want %d %q", c.args, r, c.code, c.want)
		}
	}
}
