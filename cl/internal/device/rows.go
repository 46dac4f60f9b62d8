package device

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"heddle/config"
	"heddle/engine/file/auxiliary"
)

// ReadRows reads the rows of a TOML file, as `heddle tune` writes it. The head of
// tuning.toml describes the format. Syntax errors, unknown keys and rows that the kernels
// cannot run with are a *config.Error with file and line.
func ReadRows(file string, ops Operations) ([]Tuning, error) {
	text, err := auxiliary.Read(file, 1<<20)
	if err != nil {
		return nil, err
	}
	rows, wrong := parseTunings(string(text), ops)
	if wrong != nil {
		return nil, wrong.locate(file, string(text), ops)
	}
	return rows, nil
}

// wrongTuning is a fault in rows.
type wrongTuning struct {
	at     toml.Position // place of a syntax error; line 0: no syntax error
	key    string        // the key at fault; empty: no single key
	reason string
}

func parseTunings(text string, ops Operations) ([]Tuning, *wrongTuning) {
	var table struct {
		Row []Tuning `toml:"row"`
	}
	meta, err := toml.Decode(text, &table)
	if syntax, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, &wrongTuning{at: syntax.Position, reason: syntax.Message}
	}
	if err != nil { // toml: line 6 (last key "row.wg"): …; the line may be of any row
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
		if err := ops.Check(r); err != nil {
			return nil, &wrongTuning{reason: fmt.Sprintf("row %q: %v", r.Name, err)}
		}
		for k, m := range r.Match {
			table.Row[i].Match[k] = strings.ToLower(m)
		}
	}
	return table.Row, nil
}

var rowHeader = regexp.MustCompile(`(?m)^[ \t]*\[\[[ \t]*row[ \t]*\]\]`)

// locate makes an error that points at the key, or at the head of the first row that is
// wrong by itself.
func (w *wrongTuning) locate(file, text string, ops Operations) error {
	origin := config.Origin{Kind: config.FromFile, Name: file, Line: w.at.Line, Column: w.at.Col}
	heads := rowHeader.FindAllStringIndex(text, -1)
	for i := 0; i < len(heads) && origin.Line == 0; i++ {
		row := text[heads[i][0]:]
		if i+1 < len(heads) {
			row = text[heads[i][0]:heads[i+1][0]]
		}
		_, alone := parseTunings(row, ops)
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

// WriteRow writes a row in the format of readTunings.
func WriteRow(w io.Writer, row Tuning) error {
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
