package cl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"heddle/config"
)

// ReadTunings reads rows of a tuning table from a TOML file, as `heddle tune`
// writes it and as tuning.toml describes it. What is no TOML, unknown keys and rows
// that the kernels cannot run with are a *config.Error, which has the file and the line.
// Given to Devices, the rows go before the built-in ones.
func ReadTunings(file string) ([]Tuning, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	rows, wrong := parseTunings(string(text))
	if wrong != nil {
		return nil, wrong.locate(file, string(text))
	}
	return rows, nil
}

// wrongTuning is what is wrong with rows.
type wrongTuning struct {
	at     toml.Position // of the syntax; line 0 is none
	key    string        // that is wrong; "" is none
	reason string
}

func parseTunings(text string) ([]Tuning, *wrongTuning) {
	var table struct {
		Row []Tuning `toml:"row"`
	}
	meta, err := toml.Decode(text, &table)
	if syntax, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, &wrongTuning{at: syntax.Position, reason: syntax.Message}
	}
	if err != nil { // toml: line 6 (last key "row.wg"): …, of several rows any
		_, reason, _ := strings.Cut(err.Error(), `(last key "`)
		key, reason, _ := strings.Cut(reason, `"): `)
		return nil, &wrongTuning{key: key, reason: cmp.Or(reason, err.Error())}
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, &wrongTuning{key: unknown[0].String(), reason: "unknown key " + unknown[0].String()}
	}
	if len(table.Row) == 0 {
		return nil, &wrongTuning{reason: "no [[row]]"}
	}
	for i, r := range table.Row {
		if r.Name == "" {
			return nil, &wrongTuning{reason: "a row has no name"}
		}
		if err := r.check(); err != nil {
			return nil, &wrongTuning{reason: fmt.Sprintf("row %q: %v", r.Name, err)}
		}
		for k, m := range r.Match {
			table.Row[i].Match[k] = strings.ToLower(m)
		}
	}
	return table.Row, nil
}

var rowHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*row[ \t]*\]\]`)

// locate makes an error of what is wrong, in the first row that is wrong by itself: at
// the key, else at the head of the row.
func (w *wrongTuning) locate(file, text string) error {
	origin := config.Origin{Kind: config.FromFile, Name: file, Line: w.at.Line, Column: w.at.Col}
	heads := rowHeader.FindAllStringIndex(text, -1)
	for i := 0; i < len(heads) && origin.Line == 0; i++ {
		row := text[heads[i][0]:]
		if i+1 < len(heads) {
			row = text[heads[i][0]:heads[i+1][0]]
		}
		_, alone := parseTunings(row)
		if alone == nil || alone.at.Line > 0 { // or the head stands in a string
			continue
		}
		w = alone
		at := strings.Index(row, "[")
		key := regexp.MustCompile(`(?m)^[ \t]*(` + regexp.QuoteMeta(strings.TrimPrefix(w.key, "row.")) + `)[ \t]*=`)
		if found := key.FindStringSubmatchIndex(row); found != nil {
			at = found[2]
		}
		before := text[:heads[i][0]+at]
		origin.Line, origin.Column = 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n')
	}
	return &config.Error{Origin: origin, Reason: w.reason}
}

// WriteTuning writes a row as ReadTunings reads it.
func WriteTuning(w io.Writer, row Tuning) error {
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.Indent = ""
	if err := e.Encode(struct {
		Row []Tuning `toml:"row"`
	}{[]Tuning{row}}); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// check refuses rows that the kernels cannot run with on any device.
func (t Tuning) check() error {
	fail := func(format string, args ...any) error { return fmt.Errorf(format, args...) }
	switch {
	case t.WG < 32 || t.WG > 1024 || t.WG%32 != 0:
		return fail("work-groups of %d (wg), not a multiple of 32 up to 1024", t.WG)
	case t.Tile < 128 || t.Tile > runLen || t.Tile%128 != 0:
		return fail("tile is %d, not a multiple of 128 up to %d", t.Tile, runLen)
	case t.RoundTiles < 1 || uint64(t.RoundTiles)*uint64(t.Tile) > 1<<30:
		return fail("round_tiles is %d: a round has 1 tile to 2^30 elements", t.RoundTiles)
	case t.Slots < 1 || t.Slots > 64:
		return fail("slots is %d, not 1 to 64", t.Slots)
	case t.ScanWG < 32 || t.ScanWG > 1024 || t.ScanWG%32 != 0:
		return fail("scan_wg is %d, not a multiple of 32 up to 1024", t.ScanWG)
	case t.ScanChunk < 1 || t.ScanChunk > 1<<20:
		return fail("scan_chunk is %d, not 1 to 2^20", t.ScanChunk)
	case t.MergeRows != 4 && t.MergeRows != 8 && t.MergeRows != 16:
		return fail("merge_rows is %d, not 4, 8 or 16", t.MergeRows)
	case t.MergeWG < 32 || t.MergeWG > 256 || t.MergeWG%32 != 0 || t.MergeWG&(t.MergeWG-1) != 0 || t.MergeRows == 16 && t.MergeWG == 256:
		return fail("merge_wg is %d, not 32, 64, 128, or 256 with less than 16 rows", t.MergeWG)
	case t.SetWG != 0 && (t.SetWG < 32 || t.SetWG > 256 || t.SetWG&(t.SetWG-1) != 0):
		return fail("set_wg is %d, not 0, 32, 64, 128 or 256", t.SetWG)
	case t.SelectWG != 0 && (t.SelectWG < 32 || t.SelectWG > 1024 || t.SelectWG&(t.SelectWG-1) != 0):
		return fail("select_wg is %d, not 0 or a power of two from 32 to 1024", t.SelectWG)
	case t.SelectWide < 0 || t.SelectWide > 1<<30:
		return fail("select_wide is %d, not 0 to 2^30", t.SelectWide)
	case t.RankRange != 0 && (t.RankRange < 1024 || t.RankRange > 1<<15 || t.RankRange&(t.RankRange-1) != 0):
		return fail("rank_range is %d, not 0 or a power of two from 1024 to 32768", t.RankRange)
	case t.RankWG != 0 && (t.RankWG < 32 || t.RankWG > 512 || t.RankWG&(t.RankWG-1) != 0):
		return fail("rank_wg is %d, not 0, 32, 64, 128, 256 or 512", t.RankWG)
	case t.TableTile < 0 || t.TableTile > 1<<13 || t.TableTile%128 != 0:
		return fail("table_tile is %d, not 0 or a multiple of 128 up to 8192", t.TableTile)
	case t.TableWG != 0 && (t.TableWG < 32 || t.TableWG > 1024 || t.TableWG&(t.TableWG-1) != 0):
		return fail("table_wg is %d, not 0 or a power of two from 32 to 1024", t.TableWG)
	case t.TableLoads < 0 || t.TableLoads > 16:
		return fail("table_loads is %d, not 0 to 16", t.TableLoads)
	case !t.Serial && t.tableTile() != 2*t.tableLocal() && t.tableTile() != 4*t.tableLocal() && t.tableTile() != 8*t.tableLocal():
		return fail("table_tile is %d, not 2, 4 or 8 times table_wg, %d", t.tableTile(), t.tableLocal())
	case t.Serial && (t.NVShuffle || t.LookBack):
		return errors.New("serial kernels neither shuffle nor look back")
	}
	return nil
}
