// Package nodes runs the nodes of a cluster on one machine, each in a process of its own.
package nodes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"heddle/config"
)

// Nodes are the processes of a cluster on one machine.
type Nodes struct {
	all  []*exec.Cmd
	end  context.CancelFunc
	ends sync.WaitGroup
}

// Start starts processes of heddle serve --node in an environment, and returns when they accept calls. The caller
// calls Stop, also after an error.
func Start(ctx context.Context, environ []string, stderr io.Writer, c *config.Config, dir string, count int, log zerolog.Logger) (*Nodes, error) {
	until, end := context.WithCancel(context.WithoutCancel(ctx))
	n := &Nodes{end: end}
	self, err := os.Executable()
	if err != nil {
		return n, err
	}
	said := make(chan error, count)
	for i := range count {
		name := fmt.Sprintf("n%d", i+1)
		cmd := exec.CommandContext(until, self, "serve", "--cluster", c.Cluster.Servers, "--node", name, "--data", filepath.Join(dir, name), "--listen", "127.0.0.1:0",
			"--timeout", c.Server.Timeout.String(), "--backend", c.Devices.Backend, "--device", c.Devices.Device, "--threads", fmt.Sprint(c.Devices.Threads), "--log-level", c.Log.Level)
		cmd.Env, cmd.Stderr, cmd.SysProcAttr = nodeEnv(environ, count), stderr, withParent()
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = c.Server.Timeout + time.Second
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return n, fmt.Errorf("node %s: %w", name, err)
		}
		n.all = append(n.all, cmd)
		n.ends.Go(func() {
			lines := bufio.NewReader(out)
			line, err := lines.ReadString('\n')
			if err == nil && !strings.HasPrefix(line, "listening on ") {
				err = fmt.Errorf("it printed %q", line)
			}
			if err != nil {
				err = fmt.Errorf("node %s does not start: %w", name, err)
			}
			said <- err
			_, _ = io.Copy(io.Discard, lines)
			if err := cmd.Wait(); until.Err() == nil {
				log.Error().Err(err).Str("node", name).Int("pid", cmd.Process.Pid).Msg("a node has ended")
			}
		})
	}
	for range count {
		select {
		case err = <-said:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// nodeEnv leaves out the settings of the server and of the cluster, which are not for nodes. Each of the nodes gets its
// share of the cores: threads that sleep and wake take time.
func nodeEnv(environ []string, nodes int) (env []string) {
	env = []string{fmt.Sprint("GOMAXPROCS=", (runtime.GOMAXPROCS(0)+nodes-1)/nodes)}
	for _, kv := range environ {
		if !strings.HasPrefix(kv, config.FileVariable+"=") && !strings.HasPrefix(kv, "HEDDLE_SERVER_") && !strings.HasPrefix(kv, "HEDDLE_CLUSTER_") {
			env = append(env, kv)
		}
	}
	return env
}

// Print writes the processes of the nodes and the address of the control node.
func (n *Nodes) Print(out io.Writer, control string) error {
	var b strings.Builder
	for i, cmd := range n.all {
		fmt.Fprintf(&b, "node n%d pid %d\n", i+1, cmd.Process.Pid)
	}
	fmt.Fprintf(&b, "control on %s\n", control)
	_, err := io.WriteString(out, b.String())
	return err
}

// Stop drains the nodes and waits for their end.
func (n *Nodes) Stop() {
	n.end()
	n.ends.Wait()
}
