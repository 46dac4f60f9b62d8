package harness

import (
	"fmt"
	"strings"

	"heddle/engine/bench/measure"
)

// card is a device of a paper or of our runs, and the bandwidth of its memory.
type card struct {
	name   string // as the driver names it, in part, or as the paper does
	gb     float64
	source string
}

// cards are the devices of our runs.
var cards = []card{
	{"H200", 4800, "NVIDIA H200 data sheet"},
	{"H100 80GB HBM3", 3350, "NVIDIA H100 data sheet"},
}

// perBandwidth returns what the ratio of a device's rate or time to that of the paper's device
// is multiplied with, so that it compares rates per byte of bandwidth. It is 0 for figures
// that the bandwidth of a device does not bound, and for unknown devices.
func (c card) perBandwidth(x Reading) float64 {
	if c.gb == 0 || x.Backend != "opencl" {
		return 0
	}
	for _, ours := range cards {
		if !strings.Contains(x.Device, ours.name) {
			continue
		}
		switch x.Metric {
		case "throughput", "kernel throughput", "decode", "speedup", "mean speedup":
			return c.gb / ours.gb
		case "response", "kernels", "time", "mean", "mean in batches":
			return ours.gb / c.gb
		}
	}
	return 0
}

// ourCards lists our devices and their bandwidths.
func ourCards() string {
	var all []string
	for _, c := range cards {
		all = append(all, fmt.Sprintf("%s %s GB/s (%s)", c.name, measure.Number(c.gb), c.source))
	}
	return list(all)
}
