package main

import (
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
