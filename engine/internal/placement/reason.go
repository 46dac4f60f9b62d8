package placement

import (
	"fmt"
	"slices"
	"strings"

	"heddle/engine/plan"
)

// together describes several devices that run each query together.
func together(backends []plan.Backend) plan.Info {
	info := backends[0].Info()
	info.Algorithms = slices.Clone(info.Algorithms)
	names := []string{info.Device}
	for _, b := range backends[1:] {
		x := b.Info()
		names = append(names, x.Device)
		info.ComputeUnits += x.ComputeUnits
		info.Memory += x.Memory
		info.Batch += x.Batch
		info.BatchPostings += x.BatchPostings
		info.MaxAlloc, info.LocalMemory = min(info.MaxAlloc, x.MaxAlloc), min(info.LocalMemory, x.LocalMemory)
		if x.RankBatches > 0 && (info.RankBatches == 0 || x.RankBatches < info.RankBatches) {
			info.RankBatches = x.RankBatches
		}
		info.Algorithms = slices.DeleteFunc(info.Algorithms, func(a plan.Algorithm) bool { return !slices.Contains(x.Algorithms, a) })
	}
	info.Device = countNames(names)
	return info
}

// countNames joins names, and counts repeated names: "2 x A, B".
func countNames(names []string) string {
	var parts []string
	for _, n := range slices.Compact(slices.Sorted(slices.Values(names))) {
		times := 0
		for _, x := range names {
			if x == n {
				times++
			}
		}
		if times > 1 {
			n = fmt.Sprintf("%d x %s", times, n)
		}
		parts = append(parts, n)
	}
	return strings.Join(parts, ", ")
}

// without returns the devices that have no lists.
func (p *placer) without() (none []int) {
	for i := range p.devices {
		if !slices.ContainsFunc(p.stores, func(s Store) bool { return slices.Contains(s.Devices, i) }) {
			none = append(none, i)
		}
	}
	return none
}

// reason describes the decision and its reason.
func (p *placer) reason() string {
	words, _ := p.src.Used()
	size := fmt.Sprintf("%.1f MiB of lists", float64(words)*4/(1<<20))
	if len(p.devices) == 0 {
		return "no device, " + size + " on the host"
	}
	var how []string
	for _, x := range []struct {
		placement How
		text, why string
	}{
		{Replicas, "a replica of all lists", "each of them holds all"},
		{Shards, "shards by documents", "no device holds all, together they do"},
		{Cache, "a list cache", "not all fit"},
	} {
		var names []string
		for _, s := range p.stores {
			if s.How == x.placement {
				for _, i := range s.Devices {
					names = append(names, p.devices[i].Info().Device)
				}
			}
		}
		if len(names) > 0 {
			if p.opt.How != Auto {
				x.why = "as asked for"
			}
			how = append(how, fmt.Sprintf("%s on %s (%s)", x.text, countNames(names), x.why))
		}
	}
	if left := p.without(); len(left) > 0 {
		how = append(how, fmt.Sprintf("none on %d of %d devices", len(left), len(p.devices)))
	}
	return size + ": " + strings.Join(how, ", ")
}
