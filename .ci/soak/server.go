package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// figures are the values of a sample: KiB of memory of the process, bytes of the device, and so on.
var figures = []string{"rss_kib", "device_bytes", "heap_bytes", "descriptors", "threads", "goroutines", "cpu_ms"}

// room is the growth that a figure may have if a tenth of it is less.
var room = map[string]int64{"rss_kib": 16 << 10, "device_bytes": 16 << 20, "heap_bytes": 8 << 20, "descriptors": 16, "threads": 4, "goroutines": 32}

// server is a running heddle serve in its folder.
type server struct {
	name, folder  string
	address       string // address for queries
	admin         string
	process       *exec.Cmd
	ended         chan error
	files         [][]byte // contents of the index that replace each other
	answers       []string // right answers of requests
	samples       [][]int64
	queries       atomic.Int64
	failed, wrong atomic.Int64
	refused       atomic.Int64 // with status 429
	reloads       atomic.Int64
	changes       atomic.Int64 // additions and deletions
	faults        atomic.Int64 // broken requests, cut connections, damaged files
}

// start builds the files of a server and starts it.
func start(program, folder, name string, flags []string) (*server, error) {
	s := &server{name: name, folder: folder, ended: make(chan error, 1)}
	if err := s.build(program); err != nil {
		return nil, err
	}
	messages, err := os.Create(filepath.Join(folder, "messages"))
	if err != nil {
		return nil, err
	}
	defer messages.Close()
	arguments := append([]string{"serve", "--index", "words=words.hdl", "--index", "notes=notes", "--table", "rows=rows.hdb",
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--drain-delay", "0s"}, flags...)
	s.process = exec.Command(program, arguments...)
	s.process.Dir, s.process.Stderr = folder, messages
	output, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	for s.admin == "" && lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "listening on http://"); ok {
			s.address = address
		}
		s.admin, _ = strings.CutPrefix(lines.Text(), "administration on http://")
		if !strings.HasPrefix(lines.Text(), "administration") {
			s.admin = ""
		}
	}
	go func() {
		io.Copy(io.Discard, output)
		s.ended <- s.process.Wait()
	}()
	for range 600 {
		if _, err = get("http://" + s.address + "/readyz"); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, r := range requests {
		answer, askErr := s.ask(r)
		err = errors.Join(err, askErr)
		s.answers = append(s.answers, answer)
	}
	return s, err
}

// build writes two forms of an index, a table and an empty collection.
func (s *server) build(program string) error {
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return err
	}
	var texts, rows strings.Builder
	rows.WriteString("a,b\n")
	for i := range 4000 {
		fmt.Fprintf(&texts, "document%d\tall of them number%d rest%d", i, i, i%7)
		for j := range 12 {
			fmt.Fprintf(&texts, " word%d", (i*i+j*j*i+j)%997)
		}
		fmt.Fprintf(&texts, "\n")
		fmt.Fprintf(&rows, "%d,%d\n", i*37%100, i)
	}
	for name, text := range map[string]string{"words.tsv": texts.String(), "rows.csv": rows.String()} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	for _, command := range []string{
		"index build -o first.hdl --force --format text words.tsv",
		"index build -o second.hdl --force --format text --codec vbyte words.tsv",
		"bitmap build -o rows.hdb --force rows.csv",
		"collection create notes",
	} {
		c := exec.Command(program, strings.Fields(command)...)
		c.Dir = s.folder
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("heddle %s: %w\n%s", command, err, out)
		}
	}
	for _, name := range []string{"first.hdl", "second.hdl"} {
		content, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil {
			return err
		}
		s.files = append(s.files, content)
	}
	return s.replace(s.files[0])
}

// replace gives the index another content, by a rename.
func (s *server) replace(content []byte) error {
	path := filepath.Join(s.folder, "words.hdl")
	if err := os.WriteFile(path+".next", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".next", path)
}

func (s *server) stop() {
	s.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.process.Process.Kill()
	}
}

// sample returns the figures of this moment.
func (s *server) sample() ([]int64, error) {
	select {
	case err := <-s.ended:
		s.ended <- err
		return nil, fmt.Errorf("the server ended: %v", err)
	default:
	}
	folder := fmt.Sprintf("/proc/%d/", s.process.Process.Pid)
	status, err := os.ReadFile(folder + "status")
	if err != nil {
		return nil, err
	}
	descriptors, err := os.ReadDir(folder + "fd")
	if err != nil {
		return nil, err
	}
	metrics, err := get("http://" + s.admin + "/metrics")
	if err != nil {
		return nil, err
	}
	return []int64{
		number(status, `VmRSS:\s+(\d+)`),
		number(metrics, `heddle_resident_bytes\{.*\} (\S+)`),
		number(metrics, `go_memstats_heap_inuse_bytes (\S+)`),
		int64(len(descriptors)),
		number(status, `Threads:\s+(\d+)`),
		number(metrics, `go_goroutines (\S+)`),
		int64(1000 * float(metrics, `process_cpu_seconds_total (\S+)`)),
	}, nil
}

// errRefused is the answer of a server that has too much work at the moment.
var errRefused = errors.New("status 429")

func number(text []byte, pattern string) int64 { return int64(float(text, pattern)) }

// float returns the sum of the numbers that the pattern finds at the begin of lines.
func float(text []byte, pattern string) (sum float64) {
	for _, m := range regexp.MustCompile(`(?m)^`+pattern).FindAllSubmatch(text, -1) {
		value, _ := strconv.ParseFloat(string(m[1]), 64)
		sum += value
	}
	return sum
}

func get(url string) ([]byte, error) { return body(http.Get(url)) }

func post(url, kind string, content []byte) ([]byte, error) {
	return body(http.Post(url, kind, bytes.NewReader(content)))
}

func body(r *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	content, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode == http.StatusTooManyRequests {
		return nil, errRefused
	}
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %.200s", r.StatusCode, content)
	}
	return content, err
}
