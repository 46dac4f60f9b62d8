package rows

import (
	"slices"

	"heddle/engine"
	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/plan"
)

// Explanation describes the execution of a predicate. Its JSON names are part of the
// command line's contract.
type Explanation struct {
	Where      string     `json:"where"`
	Columns    []Column   `json:"columns"`
	Compared   []string   `json:"compared,omitempty"` // comparisons of columns
	Joined     []string   `json:"joined,omitempty"`   // multi-valued columns, whose values pure Go joins to their rows
	Vectors    int        `json:"vectors"`
	Bytes      uint64     `json:"bytes"`  // compressed size of the vectors
	Slices     uint64     `json:"slices"` // size of the bit slices of checked columns, in bytes
	Backend    string     `json:"backend"`
	Device     string     `json:"device"`
	Choice     string     `json:"choice,omitempty"` // reason for the backend
	How        string     `json:"how"`
	Estimates  []Estimate `json:"estimates,omitempty"`
	Micros     float64    `json:"us"`
	CompileUS  float64    `json:"compile_us"` // preparation of the predicate
	UploadUS   float64    `json:"upload_us,omitempty"`
	DecodeUS   float64    `json:"decompress_us,omitempty"`
	ReduceUS   float64    `json:"reduce_us,omitempty"`
	CompactUS  float64    `json:"compact_us,omitempty"`
	DownloadUS float64    `json:"download_us,omitempty"`
}

// Column describes the part of a predicate on one column.
type Column struct {
	Column     string   `json:"column"`
	Values     []string `json:"values"`
	Missing    bool     `json:"missing,omitempty"` // missing values are selected
	Bins       int      `json:"bins"`
	Whole      int      `json:"whole"`   // bins whose vectors select the rows
	Checked    int      `json:"checked"` // bins that the values meet, if slices select the rows; else 0
	Candidates uint64   `json:"candidates"`
}

// Estimate is the expected time of one backend.
type Estimate struct {
	Backend string  `json:"backend"`
	Micros  float64 `json:"us"`
}

func newExplanation(info *engine.TableInfo, e *engine.TableExplanation) *Explanation {
	processor := func(name string) (p plan.Info) {
		for _, r := range info.Resident {
			if r.Processor == name {
				p = r.Info
			}
		}
		return p
	}
	ran := processor(e.Processor)
	p := &Explanation{Where: e.Where, Columns: []Column{}, Vectors: e.Plan.Vectors, Bytes: e.Bytes, Slices: e.Slices,
		Backend: ran.Kind, Device: ran.Device, How: e.How,
		Micros: terminal.Micros(e.Stats.Wall), CompileUS: terminal.Micros(e.Compile), UploadUS: terminal.Micros(e.Stats.Upload), DecodeUS: terminal.Micros(e.Stats.Decode), ReduceUS: terminal.Micros(e.Stats.Probe),
		CompactUS: terminal.Micros(e.Stats.Compact), DownloadUS: terminal.Micros(e.Stats.Download)}
	p.Compared, p.Joined = slices.Concat(e.Plan.Sliced, e.Plan.Compared), e.Plan.Joined
	for _, t := range e.Plan.Tests {
		p.Columns = append(p.Columns, Column{t.Column, append([]string{}, t.Ranges...), t.Missing, t.Bins, t.Whole, t.Checked, t.Candidates})
	}
	for i, took := range e.Estimates {
		if took >= 0 && len(e.Estimates) > 1 {
			p.Estimates = append(p.Estimates, Estimate{processor(e.Processors[i]).Kind, terminal.Micros(took)})
		}
	}
	return p
}
