//go:build !core

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestServeWatched: files and collections that are renamed into the folder are in service within a second, the ones
// that leave are not, and a file that cannot be opened is named once. The folder may be empty at the start.
func TestServeWatched(t *testing.T) {
	inTempDir(t)
	for _, dir := range []string{"served", "away"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, "d.tsv", "a\theaven and earth\n")
	must(t, "index", "build", "-o", "away/books.hdl", "d.tsv")
	act(t, "", "collection", "create", "away/news")
	act(t, "a\theaven\nb\theaven\n", "collection", "add", "away/news", "--format", "text", "-")
	s := serve(t, "--dev", "served", "--watch", "--drain-delay", "0s", "--log-level", "info")
	count := func(name string) string {
		return s.do("POST", "/v1/indexes/"+name+"/match", `{"query":"heaven","count":true}`)
	}
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	within := func(name, want string) {
		t.Helper()
		began := time.Now()
		for !strings.Contains(count(name), want) {
			if time.Since(began) > 20*time.Second { // a second on an idle machine
				t.Fatalf("%s: %s, want %s", name, count(name), want)
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("%s: %s after %v", name, want, time.Since(began).Round(time.Millisecond))
	}
	writeFile(t, "served/wrong.hdl", "no index")
	move("away/books.hdl", "served/books.hdl")
	move("away/news", "served/news")
	within("books", `"count":1`)
	within("news", `"count":2`)
	if got := s.do("GET", "/readyz", ""); strings.Contains(got, "not") {
		t.Errorf("readyz: %s", got)
	}
	act(t, "c\theaven\n", "collection", "add", "served/news", "--format", "text", "-")
	within("news", `"count":3`)
	move("served/books.hdl", "away/books.hdl")
	move("served/news", "away/news")
	within("books", "not_found")
	within("news", "not_found")
	move("away/books.hdl", "served/poems.hdl")
	s.signal(syscall.SIGHUP)
	within("poems", `"count":1`)
	time.Sleep(600 * time.Millisecond) // two looks
	log := s.end()
	for _, want := range []string{"index=books", "collection=news", "file=served/wrong.hdl"} {
		if n := strings.Count(log, want); n == 0 || strings.Contains(want, "wrong") && n > 1 {
			t.Errorf("%d messages with %s: %s", n, want, log)
		}
	}
	if strings.Count(log, "out of service") != 2 {
		t.Errorf("messages: %s", log)
	}
}

// TestServeTableFolder serves a folder of table files: a file that is appended is in service within a second, and all answers
// are those of one file with the same rows.
func TestServeTableFolder(t *testing.T) {
	t.Setenv("HEDDLE_CACHE", t.TempDir())
	inTempDir(t)
	r := rand.New(rand.NewPCG(39, 8))
	var all string
	for day := range 3 {
		rows := "day,city,n\n"
		for range 500 {
			rows += fmt.Sprintf("2025-11-%02d,%s,%d\n", 27+day, []string{"Oslo", "Rome", "Lima", "Wuhan"}[r.IntN(2+day)], 10*r.IntN(50)+day)
		}
		all += strings.TrimPrefix(rows, "day,city,n\n")
		writeFile(t, "day.csv", rows)
		must(t, "bitmap", "build", "-o", fmt.Sprintf("2025-11-%d.hdb", 27+day), "day.csv")
	}
	writeFile(t, "all.csv", "day,city,n\n"+all)
	must(t, "bitmap", "build", "-o", "one.hdb", "all.csv")
	for day := range 2 {
		must(t, "bitmap", "append", "many", fmt.Sprintf("2025-11-%d.hdb", 27+day))
	}
	s := serve(t, "--table", "many=many", "--table", "one=one.hdb", "--watch", "--drain-delay", "0s")
	defer s.end()
	count := func() string { return s.do("POST", "/v1/tables/many/count", `{"where":"n >= 0"}`) }
	if got := count(); !strings.Contains(got, `"count":1000`) {
		t.Fatalf("two files: %s", got)
	}
	must(t, "bitmap", "append", "many", "2025-11-29.hdb")
	for began := time.Now(); !strings.Contains(count(), `"count":1500`); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 20*time.Second { // a second on an idle machine
			t.Fatalf("three files: %s", count())
		}
	}
	for _, q := range []struct{ route, body string }{
		{"count", `{"where":"city = 'Wuhan' AND n < 200"}`},
		{"select", `{"where":"city IN ('Lima', 'Wuhan') AND day >= '2025-11-28'"}`},
		{"aggregate", `{"select":"day, city, count(*), sum(n), max(n), quantile(n, 0.5)","group_by":"day, city"}`},
		{"aggregate", `{"select":"day, city, n","where":"n > 480","order_by":"n DESC, city","limit":40}`},
	} {
		answer := func(table string) string { return s.do("POST", "/v1/tables/"+table+"/"+q.route, q.body) }
		if got, want := answer("many"), answer("one"); got != want || strings.Contains(got, "error") || len(got) < 10 {
			t.Errorf("%s %s: %s, of one file %s", q.route, q.body, got, want)
		}
	}
}
