package hdb

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"heddle/engine/table/column"
)

// Meta describes the build of a table.
type Meta struct {
	Creator string `json:"creator,omitempty"` // program and version
	Source  string `json:"source,omitempty"`  // names of the inputs
}

func (m Meta) check() error {
	for _, s := range []string{m.Creator, m.Source} {
		if !utf8.ValidString(s) {
			return inputError("meta data %q is not UTF-8", s)
		}
	}
	return nil
}

// storedColumn is the JSON of a column. Bins, ranks and entries of its dictionary, of
// which it has the numbers, stand in sections of their own.
type storedColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Scale    uint8  `json:"scale,omitempty"`
	Binning  string `json:"binning"`
	Encoding string `json:"encoding"`
	Reason   string `json:"reason,omitempty"`
	Base     uint64 `json:"base,string"` // JSON's numbers have 53 bits
	Unit     uint64 `json:"unit,string,omitempty"`
	Ranks    uint64 `json:"ranks,omitempty"`
	Missing  uint32 `json:"missing"`
	Bins     uint64 `json:"bins"`
	Strings  uint64 `json:"strings,omitempty"`
	Part     string `json:"part,omitempty"`
}

func storeColumn(p Part, c *column.Column, entries uint64) storedColumn {
	return storedColumn{
		Part: partNames[p], Name: c.Name, Type: c.Type.String(), Scale: c.Scale, Binning: c.Binning.String(), Encoding: c.Encoding.String(), Reason: c.Reason,
		Base: c.Base, Unit: c.Unit, Ranks: uint64(len(c.Ranks)), Missing: c.Missing, Bins: uint64(len(c.Bins)), Strings: entries,
	}
}

// column gives the column without its bins, ranks, strings and first vector.
func (s *storedColumn) column() (p Part, c column.Column, err error) {
	at := slices.Index(partNames[:], s.Part)
	if at < 0 {
		return p, c, fmt.Errorf("unknown part %.60q", s.Part)
	}
	p, c = Part(at), column.Column{Name: s.Name, Reason: s.Reason, Scale: s.Scale, Base: s.Base, Unit: s.Unit, Missing: s.Missing}
	if c.Type, err = column.ParseType(s.Type); err != nil {
		return p, c, err
	}
	if c.Binning, err = column.ParseBinning(s.Binning); err != nil {
		return p, c, err
	}
	c.Encoding, err = column.ParseEncoding(s.Encoding)
	return p, c, err
}

// decodeColumns reads section columns of a table with n of them. It stops at the first
// that is too many: an empty one takes 3 bytes there and far more here.
func decodeColumns(data []byte, n uint32) (list []storedColumn, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil {
		return nil, err
	} else if open != json.Delim('[') {
		return nil, errors.New("not a list of columns")
	}
	for d.More() {
		if uint64(len(list)) == uint64(n) {
			return nil, fmt.Errorf("more columns than %d, which the header says", n)
		}
		list = append(list, storedColumn{})
		if err := d.Decode(&list[len(list)-1]); err != nil {
			return nil, err
		}
	}
	if uint64(len(list)) != uint64(n) {
		return nil, fmt.Errorf("%d columns, the header says %d", len(list), n)
	}
	if _, err := d.Token(); err != nil { // the end of the list
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something behind the list of columns")
	}
	return list, nil
}
