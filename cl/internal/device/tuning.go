package device

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Tuning is the shape of the kernels for one device family: a row of tuning.toml. The head
// of that file explains each field. A zero in a field without a bound means the default of
// the operation.
type Tuning struct {
	Name       string   `toml:"name"`
	Match      []string `toml:"match"`
	WG         int      `toml:"wg"`
	Tile       int      `toml:"tile"`
	Serial     bool     `toml:"serial"`
	NVShuffle  bool     `toml:"nv_shuffle"`
	RoundTiles int      `toml:"round_tiles"`
	Slots      int      `toml:"slots"`
	Batch      uint64   `toml:"batch"`
	ScanWG     int      `toml:"scan_wg"`
	ScanChunk  int      `toml:"scan_chunk"`
	LookBack   bool     `toml:"look_back"`
	MergeWG    int      `toml:"merge_wg"`
	MergeRows  int      `toml:"merge_rows"`
	MergeLeast uint64   `toml:"merge_least"`
	SetWG      int      `toml:"set_wg"`
	RankRange  int      `toml:"rank_range"`
	RankWG     int      `toml:"rank_wg"`
	RankBatch  uint64   `toml:"rank_batch"`
	RankLookup int      `toml:"rank_lookup"`
	SelectWG   int      `toml:"select_wg"`
	SelectWide int      `toml:"select_wide"`
	TableTile  int      `toml:"table_tile"`
	TableWG    int      `toml:"table_wg"`
	TableLoads int      `toml:"table_loads"`
	TableRow   int      `toml:"table_row"`
	GroupLocal int      `toml:"group_local"`
	BeatsHost  bool     `toml:"beats_host"`
	Why        string   `toml:"why"`
}

// Local is the work-group size of a kernel that has groups of n work-items: 1 in the serial shape.
func (t *Tuning) Local(n int) int {
	if t.Serial {
		return 1
	}
	return n
}

//go:embed tuning.toml
var tuningText string

// BuiltInRows parses the built-in table once. A fault in it is a fault of the build, which a
// test finds.
var BuiltInRows = sync.OnceValue(func() []Tuning {
	var t struct{ Row []Tuning }
	if _, err := toml.Decode(tuningText, &t); err != nil {
		panic("cl: tuning.toml: " + err.Error())
	}
	return t.Row
})

// TuningFor returns the first row whose words all occur in the description of a device.
// Rows of the caller precede the built-in ones, which end with a row for every device.
func TuningFor(words string, some ...Tuning) Tuning {
	words = strings.ToLower(words)
rows:
	for _, r := range append(some[:len(some):len(some)], BuiltInRows()...) {
		for _, m := range r.Match {
			if !strings.Contains(words, m) {
				continue rows
			}
		}
		return r
	}
	panic("cl: tuning.toml has no default row")
}
