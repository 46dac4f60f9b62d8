//go:build !core

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// serving is a process that serves.
type serving struct {
	*testing.T
	cmd    *exec.Cmd
	url    string
	token  string
	admin  string // empty without --admin
	stderr strings.Builder
}

// serve starts the command and waits for its address.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	s := &serving{T: t, cmd: process(t.Context(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	m := regexp.MustCompile(`^listening on (https?://127\.0\.0\.1:\d+)\n$`).FindStringSubmatch(line)
	if m == nil {
		s.cmd.Wait()
		t.Fatalf("%q, %v, stderr %s", line, err, s.stderr.String())
	}
	s.url = m[1]
	if slices.Contains(args, "--admin") {
		if line, err = lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "administration on http") {
			t.Fatalf("%q, %v", line, err)
		}
		s.admin = strings.TrimSpace(strings.TrimPrefix(line, "administration on "))
	}
	for strings.HasPrefix(s.url, "http:") && s.get("/readyz") != "ok\n" { // up to the time-out of the test
	}
	return s
}

// ask sends a request and returns the start of the reply.
func (s *serving) ask(path, body string) string {
	s.Helper()
	return s.do("POST", path, body)
}

func (s *serving) get(path string) string {
	s.Helper()
	return s.do("GET", path, "")
}

func (s *serving) do(method, path, body string) string {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.Fatal(err)
	}
	start, _, _ := strings.Cut(string(text), `,"took_ms"`)
	return start
}

// count returns the number of documents with a word.
func (s *serving) count(word string) string {
	return s.ask("/v1/indexes/books/match", fmt.Sprintf(`{"query":%q,"count":true}`, word))
}

func (s *serving) signal(sig os.Signal) {
	s.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.Fatal(err)
	}
}

// end sends SIGTERM and returns the messages of the process.
func (s *serving) end() string {
	s.Helper()
	s.signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		s.Errorf("%v, stderr %s", err, s.stderr.String())
	}
	return s.stderr.String()
}

// TestServe starts the real command, reloads its files by SIGHUP, and ends it by SIGTERM.
func TestServe(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\n")
	writeFile(t, "more.tsv", "a\theaven and earth\nb\tthe earth\nc\tearth\n")
	writeFile(t, "flights.csv", "delay,carrier\n61,AA\n2,DL\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "bitmap", "build", "-o", "flights.hdb", "flights.csv")
	s := serve(t, "--index", "books=books.hdl", "--table", "flights=flights.hdb", "--drain-delay", "0s", "--log-level", "info")
	if got := s.count("earth"); got != `{"count":2,"documents":[]` {
		t.Errorf("count: %s", got)
	}
	if got := s.ask("/v1/tables/flights/count", `{"where":"delay >= 60"}`); got != `{"count":1` {
		t.Errorf("where: %s", got)
	}

	must(t, "index", "build", "-o", "books.hdl", "more.tsv")
	s.signal(syscall.SIGHUP)
	for s.count("earth") != `{"count":3,"documents":[]` { // up to the time-out of the test
	}
	text, err := os.ReadFile("books.hdl")
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0xff
	writeFile(t, "damaged", string(text))
	if err := os.Rename("damaged", "books.hdl"); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "flights.csv", "delay,carrier\n61,AA\n62,AA\n2,DL\n")
	must(t, "bitmap", "build", "-o", "flights.hdb", "flights.csv")
	s.signal(syscall.SIGHUP)
	for s.ask("/v1/tables/flights/count", `{"where":"delay >= 60"}`) != `{"count":2` { // the reload of the index came before
	}
	if got := s.count("earth"); got != `{"count":3,"documents":[]` {
		t.Errorf("beside a damaged file: %s", got)
	}
	if said := s.end(); !strings.Contains(said, "reload failed") || !strings.Contains(said, "index books") {
		t.Errorf("messages: %s", said)
	}

	text[20] ^= 0xff // in the header, which opening verifies
	writeFile(t, "books.hdl", string(text))
	if r := heddle(t, "serve", "--index", "books=books.hdl", "--listen", "127.0.0.1:0"); r.code != exitCorrupt || !strings.Contains(r.stderr, "index books: ") {
		t.Errorf("a damaged file at the start: %+v", r)
	}
}

// TestServeFolder serves a folder under the base names of its files, with settings of a file.
func TestServeFolder(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	writeFile(t, "h.toml", "[server]\ndev = \".\"\nmax_k = 7\nindexes = \"more=books.hdl\"\ndrain_delay = \"0s\"\nwatch = true\npoll = \"10ms\"\n")
	s := serve(t, "--config", "h.toml")
	if got := s.ask("/v1/indexes/more/search", `{"query":"earth","k":8}`); !strings.Contains(got, `"limit":"k","max":7`) {
		t.Errorf("k above the limit: %s", got)
	}
	if got := s.count("heaven"); got != `{"count":1,"documents":[]` {
		t.Errorf("count: %s", got)
	}
	writeFile(t, "books.tsv", "a\theaven and earth\nb\theaven\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	for s.count("heaven") != `{"count":2,"documents":[]` { // up to the time-out of the test
	}
	s.end()
}

// TestServeOptions checks wrong options.
func TestServeOptions(t *testing.T) {
	inTempDir(t)
	writeFile(t, "traces.toml", "[server]\ntraces = \"http://127.0.0.1:1\"\nlisten = \"127.0.0.1:0\"\n")
	must(t, "serve", "token", "--tokens", "tokens", "reader")
	writeFile(t, "still.toml", "[server]\npoll = \"0s\"\n")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, "nothing to serve: give --index, --table, --dev, --cluster or --shards"},
		{"--dev .", exitUsage, "folder . has no .hdl and no .hdb file, and no collection"},
		{"--dev absent", exitUsage, "absent"},
		{"--index books", exitUsage, `--index: "books": want NAME=FILE`},
		{"--table a/b=c", exitUsage, `--table: name "a/b": want letters`},
		{"--index a=b --index a=c", exitUsage, "b and c have the same name a"},
		{"--index a=b --listen 0.0.0.0:0", exitUsage, "--listen: 0.0.0.0:0 is not a loopback address"},
		{"--index a=b --listen :0", exitUsage, "not a loopback address"},
		{"--index a=b --listen 127.0.0.1:0 --admin [::]:0", exitUsage, "--admin: [::]:0 is not a loopback address"},
		{"--index a=b --listen 7700", exitUsage, "missing port"},
		{"--index a=b --listen " + taken.Addr().String(), exitFailure, "address already in use"},
		{"--index a=absent.hdl --listen 0.0.0.0:0 --insecure", exitFailure, "index a: "},
		{"--index a=absent.hdl --listen 0.0.0.0:0 --tokens absent", exitUsage, "absent: no such file"},
		{"--index a=absent.hdl --cert absent.crt", exitUsage, "the certificate of the server and its key need each other"},
		{"--index a=absent.hdl --watch --config still.toml", exitUsage, "--watch needs server.poll above 0"},
		{"--index a=absent.hdl --config traces.toml", exitUsage, "build it with -tags otlp"},
		{"--index a=absent.hdl --listen 0.0.0.0:0 --tokens tokens", exitFailure, "tokens cross the network in the clear"},
		{"--node n1 --data d", exitUsage, "--node needs --cluster"},
		{"--data d", exitUsage, "--data needs --cluster and --node"},
		{"--cluster nats://127.0.0.1:1 --node n1", exitUsage, "--node needs --data"},
		{"--cluster nats://127.0.0.1:1 --node n.1 --data d", exitUsage, "n.1"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --index a=b", exitUsage, "--node excludes --index"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --admin 127.0.0.1:0", exitUsage, "--node excludes --admin"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --listen 0.0.0.0:0 --tokens tokens", exitUsage, "set cluster.url"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --cluster-ca absent", exitFailure, "absent: no such file"},
		{"--cluster nats://127.0.0.1:1 --control-replicas 2", exitUsage, "2 is not one of 0, 1, 3, 5"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --listen 0.0.0.0:0", exitUsage, "it needs --tokens or --client-ca"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --listen 0.0.0.0:0 --insecure", exitUsage, "set cluster.url"},
		{"--cluster nats://127.0.0.1:1 --node n1 --data d --listen 127.0.0.1:0", exitUnavailable, "NATS servers nats://127.0.0.1:1"},
		{"--cluster nats://127.0.0.1:1 --index a=b", exitUsage, "--cluster excludes --index"},
		{"token", exitUsage, "NAME is missing"},
		{"token a", exitUsage, "--tokens FILE is missing"},
		{"token a --tokens t --role write", exitUsage, `role "write": want read or admin`},
		{"token a/b --tokens t", exitUsage, `name "a/b": want`},
		{"--index a=absent.hdl --timeout 0s", exitUsage, "flag --timeout: 0s is not from 1ms"},
	} {
		r := heddle(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("serve %s: %+v, want %d %q", c.args, r, c.code, c.want)
		}
	}
}
