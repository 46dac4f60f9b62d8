package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/cl/internal/device"
)

// knob is a field of the row and the values to try.
type knob struct {
	name   string
	field  func(*device.Tuning) *int
	flag   func(*device.Tuning) *bool // in place of field: values are 0 and 1
	values []int
	idle   func(*device.Tuning) bool // the field has no effect; may be nil
}

func (k *knob) get(t *device.Tuning) int {
	if k.flag == nil {
		return *k.field(t)
	}
	if *k.flag(t) {
		return 1
	}
	return 0
}

func (k *knob) set(t *device.Tuning, v int) {
	if k.flag == nil {
		*k.field(t) = v
	} else {
		*k.flag(t) = v != 0
	}
}

// part is a measurement and the knobs that it chooses.
type part struct {
	name, unit string
	knobs      []knob
	passes     int
	until      float64 // share of the time
	slots      int     // batches under way at most, since memory takes time; 0: no limit
	measure    func(w *work, ctx context.Context, b Backend) (float64, error)
}

// parts returns the parts for a device. Later parts build on the choices of earlier
// ones.
func parts(d *device.Device, short bool) []part {
	some := func(all, few []int) []int {
		if short {
			return few
		}
		return all
	}
	ints := func(name string, f func(*device.Tuning) *int, values []int) knob {
		return knob{name: name, field: f, values: values}
	}
	flag := func(name string, f func(*device.Tuning) *bool, values ...int) knob {
		return knob{name: name, flag: f, values: values}
	}
	passes := 2
	if short {
		passes = 1
	}
	probe := part{"probe", "G elements/s", []knob{
		ints("wg", func(t *device.Tuning) *int { return &t.WG }, some([]int{32, 64, 128, 256}, []int{64, 128})),
		ints("tile", func(t *device.Tuning) *int { return &t.Tile }, some([]int{128, 256, 512, 1024}, []int{256, 512})),
	}, passes, 0.3, 1, (*work).probe}
	decode := part{"decode", "G ints/s", nil, 1, 0.08, 1, (*work).decode}
	scan := part{"scan", "G elements/s", []knob{
		ints("scan_wg", func(t *device.Tuning) *int { return &t.ScanWG }, some([]int{128, 256, 512}, []int{256})),
		ints("scan_chunk", func(t *device.Tuning) *int { return &t.ScanChunk }, some([]int{64, 256, 1024, 2048}, []int{64, 1024})),
	}, passes, 0.5, 1, (*work).scan}
	merge := part{"merge", "G inputs/s", []knob{
		ints("merge_wg", func(t *device.Tuning) *int { return &t.MergeWG }, some([]int{64, 128, 256}, []int{128})),
		ints("merge_rows", func(t *device.Tuning) *int { return &t.MergeRows }, some([]int{4, 8, 16}, []int{8, 16})),
	}, passes, 0.62, 1, (*work).merge}
	rounds := part{"rounds", "M queries/s", []knob{
		ints("slots", func(t *device.Tuning) *int { return &t.Slots }, some([]int{2, 4, 8, 16}, []int{2, 4})),
		ints("round_tiles", func(t *device.Tuning) *int { return &t.RoundTiles }, some([]int{2048, 8192, 32768, 262144}, []int{2048, 8192})),
	}, 1, 0.75, 0, (*work).rounds}
	switch {
	case d.Info().Type == "cpu":
		probe.knobs[0].idle = func(t *device.Tuning) bool { return t.Serial } // the serial shape has groups of one
		probe.knobs = slices.Insert(probe.knobs, 0, flag("serial", func(t *device.Tuning) *bool { return &t.Serial }, 1, 0))
	case strings.Contains(strings.ToLower(d.Info().Vendor), "nvidia"):
		decode.knobs = []knob{flag("nv_shuffle", func(t *device.Tuning) *bool { return &t.NVShuffle }, 1, 0)}
	}
	if d.Info().Type != "cpu" {
		scan.knobs = append(scan.knobs, flag("look_back", func(t *device.Tuning) *bool { return &t.LookBack }, 0, 1))
	}
	return []part{decode, probe, scan, merge, rounds}
}

// every lists the rows with all settings of the part.
func (p *part) every(d *device.Device, row device.Tuning) []device.Tuning {
	all := []device.Tuning{row}
	for _, k := range p.knobs {
		var next []device.Tuning
		for _, r := range all {
			next = append(next, r)
			for _, v := range k.values {
				k.set(&r, v)
				next = append(next, r)
			}
		}
		all = next
	}
	return slices.DeleteFunc(all, func(r device.Tuning) bool {
		adapted, ok := d.Adapt(r)
		return !ok || p.setting(&adapted) != p.setting(&r)
	})
}

func (p *part) setting(row *device.Tuning) string {
	words := make([]string, len(p.knobs))
	for i := range p.knobs {
		words[i] = fmt.Sprintf("%s=%d", p.knobs[i].name, p.knobs[i].get(row))
	}
	return strings.Join(words, " ")
}
