package cl

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// Tuning is the shape of the kernels for one device family: a row of
// tuning.toml, whose head says what the fields mean.
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
	SelectWG   int      `toml:"select_wg"`
	SelectWide int      `toml:"select_wide"`
	TableTile  int      `toml:"table_tile"`
	TableWG    int      `toml:"table_wg"`
	TableLoads int      `toml:"table_loads"`
	BeatsHost  bool     `toml:"beats_host"`
	Why        string   `toml:"why"`
}

//go:embed tuning.toml
var tuningText string

// tuningRows parses the table once; it is part of the program, so a fault in it
// is a fault of the build, which a test finds.
var tuningRows = sync.OnceValue(func() []Tuning {
	var t struct{ Row []Tuning }
	if _, err := toml.Decode(tuningText, &t); err != nil {
		panic("cl: tuning.toml: " + err.Error())
	}
	return t.Row
})

// tuningFor picks the row for a device described by words: of some, else of the
// built-in ones.
func tuningFor(words string, some ...Tuning) Tuning {
	words = strings.ToLower(words)
rows:
	for _, r := range append(some[:len(some):len(some)], tuningRows()...) {
		for _, m := range r.Match {
			if !strings.Contains(words, m) {
				continue rows
			}
		}
		return r
	}
	panic("cl: tuning.toml has no default row")
}

// defines is the text in front of the kernels: drivers that cache by source see
// every change.
func (t Tuning) defines(countLoads bool) string {
	var b strings.Builder
	def := func(name string, value int) { fmt.Fprintf(&b, "#define %s %d\n", name, value) }
	flag := map[bool]int{true: 1}
	def("WG", t.WG)
	def("TILE", t.Tile)
	def("SCAN_SERIAL", flag[t.Serial])
	def("NV_SHUFFLE", flag[t.NVShuffle])
	def("COUNT_LOADS", flag[countLoads])
	def("SCAN_WG", t.ScanWG)
	def("SET_WG", t.setLocal())
	def("RANK_RANGE", t.rankRange())
	def("RANK_WG", t.rankLocal())
	def("RANK_SPAN", rankSpan)
	def("SELECT_WG", t.selectLocal())
	def("SELECT_WIDE", t.selectWide())
	def("TABLE_TILE", t.tableTile())
	def("TABLE_WG", t.tableLocal())
	def("TABLE_LOADS", t.tableLoads())
	def("MERGE_WG", t.MergeWG)
	def("MERGE_ROWS", t.MergeRows)
	return b.String()
}

// decodeLocal is the size of a work-group of decode, local that of the others.
func (t Tuning) decodeLocal() int {
	if t.Serial {
		return 1
	}
	return runLen / 16 // DECODE_WG
}

func (t Tuning) local() int {
	if t.Serial {
		return 1
	}
	return t.WG
}

// gatherGroups is the number of work-groups of gather: 16 work-items a tile.
func (t Tuning) gatherGroups(tiles int) int {
	if t.Serial {
		return tiles
	}
	return (tiles*16 + t.WG - 1) / t.WG
}

// scanTile is the number of elements that a group of the kernels of scan.cl takes,
// SCAN_TILE there.
func (t Tuning) scanTile() int { return 16 * t.ScanWG }
