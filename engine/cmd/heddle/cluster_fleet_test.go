//go:build !core

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"heddle/engine/cluster/store"
)

// asControl is the variable that turns a test binary into a NATS server. Its value is the file of the
// server's configuration.
const asControl = "HEDDLE_TEST_CONTROL"

func init() {
	if file := os.Getenv(asControl); file != "" {
		runControl(file)
		os.Exit(0)
	}
}

// runControl runs a NATS server until a signal ends the process.
func runControl(file string) {
	o, err := server.ProcessConfigFile(file)
	if err == nil {
		var s *server.Server
		if s, err = server.NewServer(o); err == nil {
			if o.LogFile != "" {
				s.ConfigureLogger()
			}
			s.Start()
			s.WaitForShutdown()
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// fleet is a cluster of processes: NATS servers, nodes, and a server that asks the nodes.
type fleet struct {
	*testing.T
	controls    []*natsServer
	nodes       map[string]*serving
	front       *serving
	identity    []string // flags of all programs of the cluster
	serverFlags []string // flags of the server alone
	want        []string // answers by query
	asked       atomic.Int64
}

// natsServer is the process of a NATS server.
type natsServer struct {
	*testing.T
	name, file, url string
	program         []string // that runs the server
	cmd             *exec.Cmd
	ended           chan error // the result of the process
}

// freePort returns a port of this machine that was free.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// newControls starts NATS servers with JetStream that form one cluster. More is a part of their
// configuration, program another program than the embedded server.
func newControls(t *testing.T, count int, more string, program ...string) (all []*natsServer) {
	t.Helper()
	var routes []string
	for range count {
		routes = append(routes, fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	}
	for i := range count {
		c := &natsServer{T: t, name: fmt.Sprintf("c%d", i), program: program, url: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
		text := fmt.Sprintf("server_name: %s\nlisten: %q\nping_interval: \"1s\"\nping_max: 2\njetstream { store_dir: %q", c.name, c.url, filepath.Join(t.TempDir(), "js"))
		if len(program) == 0 { // Debian 12 has 2.9, which lacks the option
			text += ", sync_interval: always"
		}
		text += " }\n"
		text += more
		if count > 1 {
			text += fmt.Sprintf("cluster { name: heddle, listen: %q, routes: [%s] }\n", routes[i], `"nats://`+strings.Join(routes, `", "nats://`)+`"`)
		}
		c.file, c.url = c.name+".conf", "nats://"+c.url
		writeFile(t, c.file, text)
		c.start()
		all = append(all, c)
	}
	return all
}

// start starts the server and waits until it accepts connections.
func (c *natsServer) start() {
	c.Helper()
	if c.program == nil {
		c.cmd = exec.CommandContext(c.Context(), os.Args[0])
		c.cmd.Env = append(os.Environ(), asControl+"="+c.file)
	} else {
		c.cmd = exec.CommandContext(c.Context(), c.program[0], append(c.program[1:], "-c", c.file)...)
	}
	c.cmd.Stderr = c.Output()
	if err := c.cmd.Start(); err != nil {
		c.Fatal(err)
	}
	ended := make(chan error, 1)
	c.ended = ended
	cmd := c.cmd
	go func() { ended <- cmd.Wait() }()
	for ; ; time.Sleep(5 * time.Millisecond) { // up to the time-out of the test
		select {
		case err := <-ended:
			c.Fatalf("%s ended: %v", c.cmd, err)
		default:
		}
		if conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "nats://")); err == nil {
			conn.Close()
			return
		}
	}
}

// kill ends the server without a farewell.
func (c *natsServer) kill() {
	c.Helper()
	kill(c.T, c.cmd.Process.Pid)
	<-c.ended
}

// newFleet starts a cluster whose index "books" has two replicas of two shards. The files books.hdl
// and books/ are in the working directory.
func newFleet(t *testing.T, controls []*natsServer, names ...string) *fleet {
	t.Helper()
	f := &fleet{T: t, controls: controls, nodes: map[string]*serving{}}
	f.begin(names)
	return f
}

// begin is the work of newFleet. The flags more are for nodes.
func (f *fleet) begin(names []string, more ...string) {
	f.Helper()
	t := f.T
	var text strings.Builder
	for i := range 600 {
		fmt.Fprintf(&text, "d%d\tred w%d w%d x%d\n", i, i%7, i%3, i*i%97)
	}
	writeFile(t, "books.tsv", text.String())
	must(t, "index", "build", "-o", "books.hdl", "books.tsv")
	must(t, "cluster", "split", "-o", "books", "--shards", "2", "books.hdl")
	for r := f.run("status"); r.code != 0; r = f.run("status") { // the NATS servers hold an election
		t.Log(r.stderr)
	}
	for _, name := range names {
		f.node(name, more...)
	}
	f.must("publish", "books")
	f.front = serve(t, append(f.flags("--drain-delay", "0s"), f.serverFlags...)...)
	for _, q := range fleetQueries {
		f.want = append(f.want, f.front.ask("/v1/indexes/books/search", q))
		if !strings.Contains(f.want[len(f.want)-1], `"hits":[{`) {
			t.Fatalf("%s: %s", q, f.want[len(f.want)-1])
		}
	}
}

// fleetQueries are requests to the index of a fleet.
var fleetQueries = []string{`{"query":"red w1 x4","k":20}`, `{"query":"w6 -w2 (x1 OR x4)","k":5}`, `{"query":"w1 w2","mode":"or","k":7}`}

// flags adds the address of the cluster to arguments.
func (f *fleet) flags(args ...string) []string {
	var urls []string
	for _, c := range f.controls {
		urls = append(urls, c.url)
	}
	return append(append(args, "--cluster", strings.Join(urls, ","), "--control-replicas", fmt.Sprint(len(urls))), f.identity...)
}

// node starts a node, or starts it again at its address. It returns when the node is ready.
func (f *fleet) node(name string, more ...string) *serving {
	f.Helper()
	args := append(f.flags("--node", name, "--data", name), more...)
	if old := f.nodes[name]; old != nil {
		args = append(args, "--listen", old.url[strings.Index(old.url, "//")+2:])
	}
	f.nodes[name] = serve(f.T, args...)
	return f.nodes[name]
}

// run runs a command of heddle cluster.
func (f *fleet) run(args ...string) result {
	f.Helper()
	for {
		r := heddle(f.T, append([]string{"cluster"}, f.flags(args...)...)...)
		if !strings.Contains(r.stderr, "nodes that answer") { // else a node was late: the machine is busy
			return r
		}
	}
}

// must runs a command of heddle cluster that succeeds.
func (f *fleet) must(args ...string) string {
	f.Helper()
	r := f.run(args...)
	if r.code != 0 {
		f.Fatalf("heddle cluster %v: exit code %d\n%s", args, r.code, r.stderr)
	}
	return r.stdout
}

// state returns the state of the cluster; nil if the commands do not reach it.
func (f *fleet) state() *store.Status {
	f.Helper()
	s := new(store.Status)
	if r := f.run("status", "--json"); r.code != 0 {
		return nil
	} else if err := json.Unmarshal([]byte(r.stdout), s); err != nil {
		f.Fatal(err)
	}
	return s
}

// load asks queries until stop, from four callers. Every answer must be the answer of before.
func (f *fleet) load() (stop func()) {
	ended := make(chan struct{})
	var callers sync.WaitGroup
	for n := range 4 {
		callers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				if got, err := f.ask(i % len(fleetQueries)); err != nil || got != f.want[i%len(fleetQueries)] {
					f.Errorf("after %d answers: %s: %s, %v", f.asked.Load(), fleetQueries[i%len(fleetQueries)], got, err)
					return
				}
				f.asked.Add(1)
			}
		})
	}
	return sync.OnceFunc(func() { close(ended); callers.Wait() })
}

// ask sends a query to the server and returns the start of its answer.
func (f *fleet) ask(query int) (string, error) {
	resp, err := http.Post(f.front.url+"/v1/indexes/books/search", "application/json", strings.NewReader(fleetQueries[query]))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	start, _, _ := bytes.Cut(text, []byte(`,"took_ms"`))
	return string(start), err
}

// answers waits for a number of further answers.
func (f *fleet) answers(count int64) {
	f.Helper()
	for until := f.asked.Load() + count; f.asked.Load() < until; time.Sleep(5 * time.Millisecond) { // up to the time-out of the test
		if f.Failed() {
			f.FailNow()
		}
	}
}

// signal sends a signal to a node.
func (f *fleet) signal(name string, s syscall.Signal) {
	f.Helper()
	f.nodes[name].signal(s)
}
