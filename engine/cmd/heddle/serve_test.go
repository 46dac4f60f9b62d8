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
	m := regexp.MustCompile(`^listening on (http://127\.0\.0\.1:\d+)\n$`).FindStringSubmatch(line)
	if m == nil {
		s.cmd.Wait()
		t.Fatalf("%q, %v, stderr %s", line, err, s.stderr.String())
	}
	s.url = m[1]
	if slices.Contains(args, "--admin") {
		if line, err = lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, "administration on http://127.0.0.1:") {
			t.Fatalf("%q, %v", line, err)
		}
		s.admin = strings.TrimSpace(strings.TrimPrefix(line, "administration on "))
	}
	return s
}

// ask sends a request and returns the start of the reply.
func (s *serving) ask(path, body string) string {
	s.Helper()
	resp, err := http.Post(s.url+path, "application/json", strings.NewReader(body))
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

	if r := heddle(t, "serve", "--index", "books=books.hdl", "--listen", "127.0.0.1:0"); r.code != exitCorrupt || !strings.Contains(r.stderr, "index books: ") || r.stdout != "" {
		t.Errorf("a damaged file at the start: %+v", r)
	}
}

// TestServeFolder serves a folder under the base names of its files, with settings of a file.
func TestServeFolder(t *testing.T) {
	inTempDir(t)
	writeFile(t, "books.tsv", "a\theaven and earth\nb\tthe earth\n")
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	writeFile(t, "h.toml", "[server]\ndev = \".\"\nmax_k = 7\nindexes = \"more=books.hdl\"\ndrain_delay = \"0s\"\n")
	s := serve(t, "--config", "h.toml")
	if got := s.ask("/v1/indexes/more/search", `{"query":"earth","k":8}`); !strings.Contains(got, `"limit":"k","max":7`) {
		t.Errorf("k above the limit: %s", got)
	}
	if got := s.count("heaven"); got != `{"count":1,"documents":[]` {
		t.Errorf("count: %s", got)
	}
	s.end()
}

// TestServeOptions checks wrong options.
func TestServeOptions(t *testing.T) {
	inTempDir(t)
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
		{"", exitUsage, "nothing to serve: give --index, --table or --dev"},
		{"--dev .", exitUsage, "folder . has no .hdl and no .hdb file"},
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
		{"--index a=absent.hdl --timeout 0s", exitUsage, "flag --timeout: 0s is not from 1ms"},
	} {
		r := heddle(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("serve %s: %+v, want %d %q", c.args, r, c.code, c.want)
		}
	}
}
