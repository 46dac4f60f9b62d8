//go:build !core

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"heddle/engine/plan/testneeds"
)

// dev starts a cluster on this machine and returns the processes of its nodes.
func dev(t *testing.T, args ...string) (s *serving, pids []int) {
	t.Helper()
	s = &serving{T: t, cmd: process(t.Context(), append([]string{"cluster", "dev", "--listen", "127.0.0.1:0", "--drain-delay", "0s", "--no-progress"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.cmd.Wait()
			t.Fatalf("%v, stderr %s", err, s.stderr.String())
		}
		if m := regexp.MustCompile(`^node n\d pid (\d+)\n$`).FindStringSubmatch(line); m != nil {
			pid, _ := strconv.Atoi(m[1])
			pids = append(pids, pid)
		}
		if at, ok := strings.CutPrefix(line, "listening on "); ok {
			s.url = strings.TrimSpace(at)
		}
	}
	go io.Copy(io.Discard, lines)
	for s.get("/readyz") != "ok\n" { // up to the time-out of the test
	}
	return s, pids
}

// TestClusterDev: a cluster answers like a server on the whole file, also while one of its nodes is
// killed, and beside another cluster. The nodes end with the command.
func TestClusterDev(t *testing.T) {
	testneeds.Waits(t)
	inTempDir(t)
	t.Setenv("TMPDIR", t.TempDir()) // a killed command leaves its folder
	var text, rows strings.Builder
	rows.WriteString("delay,carrier\n")
	for i := range 600 {
		fmt.Fprintf(&text, "d%d\tred w%d w%d x%d\n", i, i%7, i%3, i*i%97)
		fmt.Fprintf(&rows, "%d,c%d\n", i*7%1440, i%5)
	}
	writeFile(t, "books.tsv", text.String())
	writeFile(t, "flights.csv", rows.String())
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "bitmap", "build", "-o", "flights.hdb", "flights.csv")
	writeFile(t, "synonyms.txt", "alias, w1\n")
	writeFile(t, "s.toml", "server.synonyms = \"books=synonyms.txt\"\n")
	writeFile(t, "wrong.toml", "server.synonyms = \"book=synonyms.txt\"\n")
	wantFailure(t, heddle(t, "cluster", "dev", "--config", "wrong.toml", "books.hdl"), exitUsage, "server.synonyms: no index is named book")
	whole := serve(t, "--dev", ".", "--drain-delay", "0s", "--config", "s.toml")
	s, pids := dev(t, "--nodes", "3", "--replicas", "2", "--shards", "4", "--config", "s.toml", "books.hdl", "flights.hdb")
	if len(pids) != 3 {
		t.Fatalf("processes %v", pids)
	}
	calls := [][2]string{
		{"indexes/books/search", `{"query":"red w1 x4","k":20}`},
		{"indexes/books/search", `{"query":"w6 -w2 (x1 OR x4)","k":5}`},
		{"indexes/books/search", `{"query":"(w1"}`},
		{"indexes/absent/search", `{"query":"w1"}`},
		{"indexes/books/search", `{"query":"alias -x4","k":5}`},
		{"indexes/books/match", `{"query":"red w1","mode":"and"}`},
		{"indexes/books/statistics", `{"terms":["w1","nowhere","red"]}`},
		{"indexes/books/search/batch", `{"query":"w1 x9","k":3}` + "\n" + `{"query":"red","count":true}`},
		{"tables/flights/count", `{"where":"delay >= 60 and carrier = 'c1'"}`},
		{"tables/flights/select", `{"where":"delay < 90"}`},
	}
	id := regexp.MustCompile(`"request_id":"[^"]*"`)
	ask := func(s *serving, c [2]string) string {
		return id.ReplaceAllString(s.ask("/v1/"+c[0], c[1]), "")
	}
	var want []string
	for _, c := range calls {
		want = append(want, ask(whole, c))
	}
	whole.end()
	for i, c := range calls {
		if got := ask(s, c); got != want[i] {
			t.Errorf("%s %s: %s, want %s", c[0], c[1], got, want[i])
		}
	}

	// A second cluster is of its own, with the same names of nodes.
	second, theirs := dev(t, "--nodes", "1", "--replicas", "1", "--shards", "1", "books.hdl")
	for c, nodes := range map[*serving]int{s: 3, second: 1} {
		if said := c.get("/v1/cluster"); strings.Count(said, `"alive":true`) != nodes {
			t.Errorf("not %d nodes: %s", nodes, said)
		}
	}

	var answers atomic.Int64
	var callers sync.WaitGroup
	killed := make(chan struct{})
	for n := range 4 {
		callers.Go(func() {
			for i, after := n, 0; after < 40; i++ {
				c := i % len(calls)
				if got := ask(s, calls[c]); got != want[c] {
					t.Errorf("%v: %s, want %s", calls[c], got, want[c])
					return
				}
				select {
				case <-killed:
					after++
				default:
					if answers.Add(1) == 40 {
						kill(t, pids[1])
						close(killed)
					}
				}
			}
		})
	}
	callers.Wait()
	if said := s.end(); !strings.Contains(said, "a node has ended") || !strings.Contains(said, "node=n2") {
		t.Errorf("messages: %s", said)
	}
	gone(t, pids...)

	if runtime.GOOS != "linux" {
		second.end()
		return
	}
	second.signal(syscall.SIGKILL)
	_ = second.cmd.Wait()
	gone(t, theirs...)
}

// kill ends a process by SIGKILL.
func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Error(err)
	}
}

// gone waits until no process runs, up to the time-out of the test.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		for runs(t, pid) {
			runtime.Gosched()
		}
	}
}

// runs reports whether a process has not ended. Its parent may still have to read its exit code.
func runs(t *testing.T, pid int) bool {
	t.Helper()
	if runtime.GOOS == "linux" {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, state, _ := strings.Cut(string(stat), ") ")
		return err == nil && !strings.HasPrefix(state, "Z")
	}
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}
