package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"heddle/codec"
)

// TestTuningFor picks rows by words in any case.
func TestTuningFor(t *testing.T) {
	for words, want := range map[string]string{
		"NVIDIA H200 NVIDIA Corporation NVIDIA CUDA gpu":               "nvidia",
		"pthread-skylake AuthenticAMD Portable Computing Language cpu": "cpu",
		"gfx90a Advanced Micro Devices AMD gpu":                        "default",
		"llvmpipe Mesa rusticl gpu":                                    "default",
		"Intel Arc Intel OpenCL gpu":                                   "default",
		"":                                                             "default",
	} {
		if got := TuningFor(words); got.Name != want {
			t.Errorf("%q gets row %q, want %q", words, got.Name, want)
		}
	}
}

// TestQuirks limits rows to the abilities of a driver, and raises no field.
func TestQuirks(t *testing.T) {
	for _, c := range []struct {
		platform, device string
		lies             bool
		tiles            int // of a row of 8192
	}{
		{"Portable Computing Language", "pthread-haswell", true, 8192},
		{"rusticl", "AMD Radeon", true, 1024},
		{"Mesa", "llvmpipe (LLVM 15)", true, 1024},
		{"Oclgrind", "Oclgrind Simulator", false, 64},
		{"NVIDIA CUDA", "NVIDIA H200", false, 8192},
		{"Intel(R) OpenCL", "Arc", false, 8192},
	} {
		q := quirksFor(c.platform, c.device)
		if q.memoryLies != c.lies {
			t.Errorf("%s: memoryLies is %t", c.platform, q.memoryLies)
		}
		row := Tuning{RoundTiles: 8192, WG: 128, Tile: 512}
		got := q.apply(row)
		if got.RoundTiles != c.tiles || got.WG != row.WG || got.Tile != row.Tile {
			t.Errorf("%s: %+v, want %d tiles", c.platform, got, c.tiles)
		}
		row.RoundTiles = 5
		if got := q.apply(row); got.RoundTiles != 5 {
			t.Errorf("%s raises 5 tiles to %d", c.platform, got.RoundTiles)
		}
	}
}

// TestTuningTable checks every row for host and kernels.
func TestTuningTable(t *testing.T) {
	var table struct{ Row []Tuning }
	if meta, err := toml.Decode(tuningText, &table); err != nil || len(meta.Undecoded()) != 0 {
		t.Fatalf("unknown keys %v: %v", meta.Undecoded(), err)
	}
	rows := BuiltInRows()
	if len(rows) == 0 || len(rows) != len(table.Row) {
		t.Fatalf("%d rows, the table has %d", len(rows), len(table.Row))
	}
	for i, r := range rows {
		if last := i == len(rows)-1; last != (len(r.Match) == 0) {
			t.Errorf("row %q is number %d of %d and matches %q: only the last one matches everything", r.Name, i+1, len(rows), r.Match)
		}
		if r.Name == "" || r.Why == "" || slices.ContainsFunc(rows[:i], func(o Tuning) bool { return o.Name == r.Name }) {
			t.Errorf("row %d has no name of its own, or no reason: %+v", i, r)
		}
		for _, m := range r.Match {
			if m != strings.ToLower(m) || m == "" {
				t.Errorf("row %q matches %q, which no lower-case description has", r.Name, m)
			}
		}
		if r.WG < 32 || r.WG > 256 || r.WG%32 != 0 {
			t.Errorf("row %q: work-groups of %d", r.Name, r.WG)
		}
		// A run must not be shorter than a tile, or a round has more runs than
		// uploadWords counts; segments must not be cut.
		if r.Tile <= 0 || r.Tile > 1024 || r.Tile%codec.SegmentLen != 0 {
			t.Errorf("row %q: tiles of %d", r.Name, r.Tile)
		}
		if r.RoundTiles < 1 || uint64(r.RoundTiles)*uint64(r.Tile)*4 > 1<<30 {
			t.Errorf("row %q: rounds of %d tiles", r.Name, r.RoundTiles)
		}
		if r.Slots < 2 || r.Slots > 16 {
			t.Errorf("row %q: %d slots; two are needed for rounds to overlap", r.Name, r.Slots)
		}
		if r.Serial && (r.NVShuffle || r.LookBack) {
			t.Errorf("row %q is serial and shuffles or looks back", r.Name)
		}
		if r.ScanWG < 32 || r.ScanWG > 1024 || r.ScanWG%32 != 0 || r.ScanChunk < 1 {
			t.Errorf("row %q: scans of %d work-items, %d tiles a chunk", r.Name, r.ScanWG, r.ScanChunk)
		}
	}
}

// TestRowMatch reads a row whose words are in capitals: it matches a device.
func TestRowMatch(t *testing.T) {
	rows, wrong := parseTunings("[[row]]\nname = 'own'\nmatch = ['Some GPU']", nil)
	if wrong != nil {
		t.Fatal(wrong)
	}
	if row := TuningFor("some gpu of SOME VENDOR", rows...); row.Name != "own" {
		t.Errorf("row %q", row.Name)
	}
}
