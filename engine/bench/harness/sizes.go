package harness

import (
	"fmt"

	"heddle/engine/bench/workload"
)

// Numbers of queries that take some tenths of a second.
const (
	GPUQueries       = 500_000
	cpuQueries       = 5000
	ShortQueries     = 100
	cpuRankQueries   = 200
	shortRankQueries = 40
)

// Pick returns whole, or short in a short run.
func Pick[T any](o *Options, whole, short T) T {
	if o.Short {
		return short
	}
	return whole
}

// ThemesSize describes the size of the GOV-like workload.
func ThemesSize(o *Options) string {
	return fmt.Sprintf("%d of %d themes", o.Themes, workload.MaxThemes)
}

// QueryCount is the number of conjunctive queries per run on a type of device.
func (o *Options) QueryCount(deviceType string) int {
	switch {
	case o.Queries > 0:
		return o.Queries
	case o.Short:
		return ShortQueries
	case deviceType == "gpu":
		return GPUQueries
	}
	return cpuQueries
}

// QueryCountAt is QueryCount with a limit for small thresholds: at most a thousand
// batches, for queries with 8,192 candidates on average.
func (o *Options) QueryCountAt(deviceType string, threshold uint64) int {
	n := o.QueryCount(deviceType)
	if threshold > 0 {
		n = int(min(uint64(n), 1024*max(1, threshold>>13)))
	}
	return n
}

// RankQueryCount is the number of ranked queries per run on a type of device.
func (o *Options) RankQueryCount(deviceType string) int {
	switch {
	case o.Queries > 0:
		return o.Queries
	case o.Short:
		return shortRankQueries
	case deviceType == "gpu":
		return GOV2Queries
	}
	return cpuRankQueries
}

// Thresholds are the thresholds of a sweep on a type of device, in candidates.
func (o *Options) Thresholds(deviceType string) (all []uint64) {
	switch {
	case len(o.Sweep) > 0:
		return o.Sweep
	case o.Short:
		return []uint64{64 << 10, 512 << 10}
	}
	last := uint64(1 << 20)
	if deviceType == "gpu" {
		last = 8 << 20
	}
	for c := uint64(8 << 10); c <= last; c *= 2 {
		all = append(all, c)
	}
	return all
}
