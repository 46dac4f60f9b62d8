package main

import "heddle/engine"

// rowsPlan says how a predicate was answered; its JSON names are part of the contract.
type rowsPlan struct {
	Where      string         `json:"where"`
	Columns    []columnPlan   `json:"columns"`
	Vectors    int            `json:"vectors"`
	Bytes      uint64         `json:"bytes"` // of the vectors, compressed
	Backend    string         `json:"backend"`
	Device     string         `json:"device"`
	How        string         `json:"how"`
	Estimates  []rowsEstimate `json:"estimates,omitempty"`
	Micros     float64        `json:"us"`
	CompileUS  float64        `json:"compile_us"` // before the run
	UploadUS   float64        `json:"upload_us,omitempty"`
	DecodeUS   float64        `json:"decompress_us,omitempty"`
	ReduceUS   float64        `json:"reduce_us,omitempty"`
	CompactUS  float64        `json:"compact_us,omitempty"`
	DownloadUS float64        `json:"download_us,omitempty"`
}

type columnPlan struct {
	Column     string   `json:"column"`
	Values     []string `json:"values"`
	Missing    bool     `json:"missing,omitempty"` // is selected too
	Bins       int      `json:"bins"`
	Whole      int      `json:"whole"`   // bins that are taken as they are
	Checked    int      `json:"checked"` // bins whose rows are compared with stored values
	Candidates uint64   `json:"candidates"`
}

type rowsEstimate struct {
	Backend string  `json:"backend"`
	Micros  float64 `json:"us"`
}

func explainRows(e *engine.Explanation) *rowsPlan {
	p := &rowsPlan{Where: e.Where, Columns: []columnPlan{}, Vectors: e.Plan.Vectors, Bytes: e.Bytes,
		Backend: e.Backend.Kind, Device: e.Backend.Device, How: e.How,
		Micros: micros(e.Stats.Wall), CompileUS: micros(e.Compile), UploadUS: micros(e.Stats.Upload), DecodeUS: micros(e.Stats.Decode), ReduceUS: micros(e.Stats.Probe),
		CompactUS: micros(e.Stats.Compact), DownloadUS: micros(e.Stats.Download)}
	for _, t := range e.Plan.Tests {
		p.Columns = append(p.Columns, columnPlan{t.Column, append([]string{}, t.Ranges...), t.Missing, t.Bins, t.Whole, t.Checked, t.Candidates})
	}
	for _, x := range e.Estimates {
		p.Estimates = append(p.Estimates, rowsEstimate{x.Backend.Kind, micros(x.Time)})
	}
	return p
}
