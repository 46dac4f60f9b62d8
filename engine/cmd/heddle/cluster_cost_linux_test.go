//go:build linux && !core

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"heddle/engine/cluster/transport"
	"heddle/engine/cmd/heddle/internal/control"
)

// floorVariable makes a process of the tests a part of the floor: the server, or a node at an address of NATS.
const floorVariable = "HEDDLE_FLOOR"

// TestFloor is a process of the floor: the server has three bare requests of NATS behind net/http.
func TestFloor(t *testing.T) {
	at := os.Getenv(floorVariable)
	if at == "" {
		t.Skip("it is for processes of TestClusterCost")
	}
	node, isNode := strings.CutPrefix(at, "node ")
	if isNode {
		c, err := transport.Connect(os.Getenv("HEDDLE_FLOOR_NATS"), transport.Options{})
		if err == nil {
			_, err = c.Subscribe("floor."+node, func(m *nats.Msg) { _ = m.Respond(make([]byte, 300)) })
		}
		if err == nil {
			err = c.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("listening on", node)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the server ends
		return
	}
	ctl, err := control.Start(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := transport.Connect(ctl.ClientURL(), transport.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HEDDLE_FLOOR_NATS", ctl.ClientURL())
	for i := range 3 {
		pid, _ := floorProcess(t, fmt.Sprint("node ", i))
		fmt.Printf("node n%d pid %d\n", i, pid[0])
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				if _, err := c.Request(fmt.Sprint("floor.", i), make([]byte, 150), time.Second); err != nil {
					panic(err)
				}
			})
		}
		all.Wait()
		_, _ = w.Write(make([]byte, 700))
	}))
	fmt.Println("listening on", s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// floorProcess starts a process of the floor, and returns it with its own processes, and its address.
func floorProcess(t *testing.T, part string) (pids []int, url string) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFloor$")
	cmd.Env = append(os.Environ(), floorVariable+"="+part)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	pids = []int{cmd.Process.Pid}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, text, ok := strings.Cut(lines.Text(), " pid "); ok {
			pid, _ := strconv.Atoi(text)
			pids = append(pids, pid)
		} else if url, ok = strings.CutPrefix(lines.Text(), "listening on "); ok {
			return pids, url
		}
	}
	t.Fatal("the floor does not start")
	return nil, ""
}

// spent is the CPU time of processes.
func spent(pids []int) (total time.Duration) {
	for _, pid := range pids {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range files {
			text, _ := os.ReadFile(file) // a thread may end
			first, _, _ := strings.Cut(string(text), " ")
			n, _ := strconv.ParseInt(first, 10, 64)
			total += time.Duration(n)
		}
	}
	return total
}

// TestClusterCost measures the CPU time of queries to a cluster of three nodes, over all its processes, in turns with the
// floor: alone, eight at a time, and in batches of 1,000. HEDDLE_COST is the number of turns.
func TestClusterCost(t *testing.T) {
	turns, err := strconv.Atoi(os.Getenv("HEDDLE_COST"))
	if err != nil {
		t.Skip("set HEDDLE_COST to a number of turns")
	}
	inTempDir(t)
	r := rand.New(rand.NewPCG(1, 2))
	var docs strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&docs, "doc%d\t", i)
		for range 3 + r.IntN(12) {
			fmt.Fprintf(&docs, "w%d ", int(r.ExpFloat64()*6))
		}
		docs.WriteByte('\n')
	}
	writeFile(t, "books.tsv", docs.String())
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	s, pids := dev(t, "--nodes", "3", "--replicas", "2", "--shards", "8", "--backend", "host", "books.hdl")
	defer s.end()
	pids = append(pids, s.cmd.Process.Pid)
	floor, floorURL := floorProcess(t, "server")
	http.DefaultTransport.(*http.Transport).MaxIdleConnsPerHost = 8
	text := func() string { return fmt.Sprintf("w%d w%d", 10+r.IntN(90), 10+r.IntN(90)) }
	post := func(url string, body []byte) {
		resp, err := http.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("status %d, %v: %.200s", resp.StatusCode, err, got)
		}
	}
	for _, c := range []struct {
		name                    string
		requests, queries, wide int
	}{{"one", 100, 1, 1}, {"eight", 200, 1, 8}, {"batch", 2, 1000, 1}} {
		var costs, ratios []float64
		for range turns + 1 { // without the first
			bodies := make([][]byte, c.requests)
			for i := range bodies {
				ask := map[string]any{"mode": "or", "k": 10, "query": text()}
				if c.queries > 1 {
					delete(ask, "query")
					all := make([]string, c.queries)
					for j := range all {
						all[j] = text()
					}
					ask["index"], ask["queries"] = "books", all
				}
				bodies[i], _ = json.Marshal(ask)
			}
			cost := func(url string, pids []int) float64 {
				before := spent(pids)
				var all sync.WaitGroup
				for w := range c.wide {
					all.Go(func() {
						for i := w; i < len(bodies); i += c.wide {
							post(url, bodies[i])
						}
					})
				}
				all.Wait()
				return float64((spent(pids) - before).Microseconds()) / float64(c.requests*c.queries)
			}
			path := "/v1/indexes/books/search"
			if c.queries > 1 {
				path = "/heddle.v1.IndexService/SearchBatch"
			}
			own := cost(s.url+path, pids)
			costs, ratios = append(costs, own), append(ratios, own/cost(floorURL, floor))
		}
		costs, ratios = costs[1:], ratios[1:]
		slices.Sort(costs)
		slices.Sort(ratios)
		fmt.Printf("%s: %.1f us a query (quartiles %.1f to %.1f)", c.name, costs[turns/2], costs[turns/4], costs[turns*3/4])
		if c.queries == 1 {
			fmt.Printf(", %.2f times the floor (%.2f to %.2f)", ratios[turns/2], ratios[turns/4], ratios[turns*3/4])
		}
		fmt.Println()
	}
}
