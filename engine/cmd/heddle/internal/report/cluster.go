//go:build !core

package report

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"heddle/engine/cluster/capacity"
	"heddle/engine/cluster/store"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/internal/layout"
)

// Epoch is the outcome of a change.
type Epoch struct {
	Name  string `json:"name"`
	Epoch uint64 `json:"epoch"`
}

func (c *Epoch) Write(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: epoch %d\n", c.Name, c.Epoch)
	return err
}

// Cluster prints a cluster as text.
type Cluster store.Status

func (s *Cluster) Write(w io.Writer) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Collections)) {
		c := s.Collections[name]
		if c.Current != nil {
			fmt.Fprintf(&b, "%s  %s, epoch %d, %d documents\n", name, c.Current.Kind, c.Current.Epoch, c.Current.Docs)
			for i, shard := range c.Current.Shards {
				fmt.Fprintf(&b, "  shard %d  %s  %s\n", i, terminal.Bytes(shard.Size()), strings.Join(shard.Replicas, " "))
			}
		}
		if c.Intent != nil {
			fmt.Fprintf(&b, "%s  %s of epoch %d is under way\n", name, c.Intent.Verb, c.Intent.Target.Epoch)
		}
		if c.Failure != "" {
			fmt.Fprintf(&b, "%s  the last change failed: %s\n", name, c.Failure)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Nodes)) {
		n, state := s.Nodes[name], "answers"
		if !slices.Contains(s.Alive, name) {
			state = "does not answer"
		}
		if slices.Contains(s.Draining, name) {
			state += ", drains"
		}
		fmt.Fprintf(&b, "node %s  %s, %d shards open, %s free\n", name, state, len(n.Loaded), terminal.Bytes(n.Free))
		for _, f := range n.Failed {
			fmt.Fprintf(&b, "  %s, epoch %d, shard %d: %s\n", f.Name, f.Epoch, f.Shard, f.Error)
		}
		for _, d := range n.Damaged {
			state := "is damaged"
			if d.Healed {
				state = "was damaged and is healed"
			}
			fmt.Fprintf(&b, "  %s %s: %s\n", d.File, state, d.Error)
		}
	}
	if b.Len() == 0 {
		b.WriteString("no collections and no nodes\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Plan prints a plan.
type Plan struct{ *capacity.Plan }

// Write writes a line for each part of the plan.
func (p Plan) Write(out io.Writer) error {
	seconds := func(s float64) string { return time.Duration(s * 1e9).Round(10 * time.Microsecond).String() }
	second := "impossible with one replica"
	if p.Second > 0 {
		second = fmt.Sprintf("p50 %s, p99 %s; sent after %s", seconds(p.P50Second), seconds(p.P99Second), seconds(p.Second))
	}
	for _, line := range [][2]string{
		{"shards", fmt.Sprintf("%.0f of %.4g documents, %.4g GB each (%s)", p.Shards, p.ShardDocs, p.ShardSize/1e9, p.Reason)},
		{"machines", fmt.Sprintf("%.0f, %.0f replicas of each shard", p.Machines, p.Replicas)},
		{"load", fmt.Sprintf("%.0f %%; one failed: %.0f %%", 100*p.Load, 100*p.LoadOneFailed)},
		{"CPU time of a query", fmt.Sprintf("%s, %.2g %% of it for calls", seconds(p.QueryCost), 100*p.CallShare)},
		{"latency", fmt.Sprintf("p50 %s, p99 %s; of a shard: p50 %s", seconds(p.P50), seconds(p.P99), seconds(p.CallP50))},
		{"with second requests", second},
		{"map", fmt.Sprintf("%.4g kB in %.0f keys; a change sends %.4g MB to all nodes", p.MapBytes/1e3, p.MapKeys, p.MapTraffic/1e6)},
		{"publish", fmt.Sprintf("%.4g GB; %s if every machine has its own source", p.PublishSize/1e9, time.Duration(p.PublishTime*1e9).Round(time.Second))},
		{"NATS", fmt.Sprintf("%.4g messages per second; %.0f groups (%s)", p.Messages, p.Groups, p.GroupFor)},
	} {
		if _, err := fmt.Fprintf(out, "%-22s%s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

// Shards describes a manifest that was written.
type Shards struct {
	Dir string `json:"-"`
	*layout.Map
}

// Write writes a line for the whole and a line for each shard.
func (s Shards) Write(out io.Writer) error {
	path := terminal.Field(filepath.Join(s.Dir, layout.ManifestName))
	if _, err := fmt.Fprintf(out, "%s: %d shards, %d documents\n", path, len(s.Shards), s.Docs); err != nil {
		return err
	}
	for _, x := range s.Shards {
		if _, err := fmt.Fprintf(out, "%s  first %d, %d documents, %d bytes\n", terminal.Field(x.File), x.First, x.Docs, x.Size()); err != nil {
			return err
		}
	}
	return nil
}
