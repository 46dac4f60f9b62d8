package report

import "heddle/engine/table/build"

// TableBuild describes a finished build of a table.
type TableBuild struct {
	Path       string             `json:"path"`
	Rows       uint32             `json:"rows"`
	Invalid    uint64             `json:"invalid"` // rows with invalid values
	Nulls      uint64             `json:"nulls"`   // missing values in arrays, which are left out
	Word       int                `json:"word"`
	Columns    []tableBuildColumn `json:"columns"`
	InputBytes int64              `json:"input_bytes"` // as stored, that is, compressed
	Bytes      int64              `json:"bytes"`       // size of the table file
	Seconds    float64            `json:"seconds"`
}

type tableBuildColumn struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Binning     string `json:"binning"`
	Encoding    string `json:"encoding"`
	Bins        int    `json:"bins"`
	Vectors     int    `json:"vectors"`
	Missing     uint32 `json:"missing"`
	VectorBytes uint64 `json:"vector_bytes"`
	ValueBytes  uint64 `json:"value_bytes"`
}

// NewTableBuild describes the build of the file at path.
func NewTableBuild(path string, r *build.Report) TableBuild {
	s := TableBuild{Path: path, Rows: r.Rows, Invalid: r.Invalid.Rows, Nulls: r.Invalid.Nulls, Word: r.Word, InputBytes: r.InputBytes, Bytes: r.FileBytes, Seconds: (r.Read + r.Write).Seconds()}
	for _, c := range r.Columns {
		s.Columns = append(s.Columns, tableBuildColumn{c.Name, c.TypeName(), c.Binning.String(), c.Encoding.String(), c.Bins, c.Vectors, c.Missing, c.VectorBytes, c.ValueBytes})
	}
	return s
}
