package drivers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/engine/file/scratch"
)

// icdName is the name of the .icd file of driver i, which keeps the order.
func icdName(i int) string { return fmt.Sprintf("%03d.icd", i) }

// vendorVariables are the variables that name .icd files.
var vendorVariables = []string{"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES"}

// vendorFolder returns the value of OCL_ICD_VENDORS for a folder of .icd files. The loader of CUDA joins it and the
// names of files without a separator.
func vendorFolder(folder string) string { return strings.TrimRight(folder, "/") + "/" }

// withVendors returns the environment in which the loader of OpenCL reads the .icd files of a folder.
func withVendors(environ []string, folder string) []string {
	var all []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if name != vendorVariables[0] && name != vendorVariables[1] && name != vendorVariables[2] {
			all = append(all, kv)
		}
	}
	return append(all, "OCL_ICD_VENDORS="+vendorFolder(folder))
}

// start examines a driver in a child process.
func (o *Options) start(ctx context.Context, d Driver) Result {
	broken := func(phase string, err error) Result { return Result{Driver: d, Phase: phase, Error: err.Error()} }
	environ := o.Environ
	if len(d.Files) > 0 {
		folder, err := os.MkdirTemp("", "heddle-icd-")
		if err != nil {
			return broken(Start, err)
		}
		defer scratch.RemoveAll(folder)
		if err := os.WriteFile(filepath.Join(folder, icdName(0)), []byte(d.Library+"\n"), 0o600); err != nil {
			return broken(Start, err)
		}
		environ = withVendors(environ, folder)
	}
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	cmd := exec.CommandContext(ctx, o.Program[0], o.Program[1:]...)
	cmd.Env = environ
	cmd.WaitDelay = time.Second // a child of the driver may hold the streams open
	said := &tail{}
	cmd.Stderr = said
	in, err := cmd.StdinPipe()
	if err != nil {
		return broken(Start, err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return broken(Start, err)
	}
	if err := cmd.Start(); err != nil {
		return broken(Start, err)
	}
	c := &child{limit: o.Limit, kill: kill}
	c.cpu = func() time.Duration { return time.Duration(c.reported.Load()) }
	c.phase.Store(&phase{Start, time.Now()})
	if err := json.NewEncoder(in).Encode(request{d, o.Test, o.Device, o.Tuning}); err != nil {
		said.Write([]byte(err.Error()))
	}
	ended := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { c.watch(ended) })
	result := c.read(out)
	_ = in.Close() // a child that hangs at its end ends itself
	err = cmd.Wait()
	close(ended)
	watching.Wait()
	if result != nil {
		return *result
	}
	r := Result{Driver: d, Phase: c.phase.Load().name, Fault: c.fault(err, said.String()), Said: said.String()}
	if len(r.Said) > mostSaid {
		r.Said = r.Said[:mostSaid]
	}
	return r
}

// phase is a phase of a child and its begin.
type phase struct {
	name  string
	began time.Time
}

// child is a running child process.
type child struct {
	limit    time.Duration
	cpu      func() time.Duration // CPU time used so far
	kill     func()
	phase    atomic.Pointer[phase]
	reported atomic.Int64 // CPU time of the last message that has one, in ns
	hung     atomic.Pointer[string]
}

// read reads the messages of the child until the result. It returns nil if that has not come.
func (c *child) read(out io.Reader) *Result {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var m message
		if json.Unmarshal(line, &m) == nil { // a driver may print lines of its own
			if m.Phase != "" {
				c.phase.Store(&phase{m.Phase, time.Now()})
			}
			if m.CPU > 0 {
				c.reported.Store(int64(m.CPU))
			}
			if m.Result != nil {
				return m.Result
			}
		}
		if err != nil {
			return nil
		}
	}
}

const (
	// busy is the part of the time in which a process computes that shows progress. A compiler on a
	// loaded machine reaches it; a driver that polls does not.
	busy = 1.0 / 20
	// longest is the greatest time of a phase, in limits.
	longest = 30
)

// watch kills the child when a phase exceeds its limit.
func (c *child) watch(ended <-chan struct{}) {
	at := c.phase.Load()
	used, since := c.cpu(), at.began
	tick := time.NewTicker(max(c.limit/20, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
		}
		now, p := time.Now(), c.phase.Load()
		if p != at || now.Sub(since) >= c.limit {
			total := c.cpu()
			switch {
			case p != at:
			case now.Sub(p.began) < longest*c.limit && float64(total-used) >= busy*float64(now.Sub(since)):
			default:
				text := "no answer for " + now.Sub(p.began).Round(time.Second/10).String()
				c.hung.Store(&text)
				c.kill()
				return
			}
			at, since, used = p, now, total
		}
	}
}

// fault describes the end of the child.
func (c *child) fault(err error, said string) string {
	if text := c.hung.Load(); text != nil {
		return *text
	}
	if need := memoryNeed(said); need != "" {
		return need
	}
	if name := signalIn(said); name != "" {
		return "signal " + name
	}
	if err == nil {
		return "the process ended with exit code 0"
	}
	exit, ok := err.(*exec.ExitError)
	if !ok {
		return err.Error()
	}
	if name := signalOf(exit.ProcessState); name != "" {
		return "signal " + name
	}
	return "the process ended with exit code " + strconv.Itoa(exit.ExitCode())
}

// tail keeps the end of the output of a child.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const (
	tailBytes = 64 << 10
	mostSaid  = 2 << 10 // bytes of a result
)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > 2*tailBytes {
		t.text = append(t.text[:0], t.text[len(t.text)-tailBytes:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
