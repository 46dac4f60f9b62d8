// Package measure holds rows of figures, their statistics, and timing.
package measure

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

// Row is one measured figure: one line of --json. Fields that do not apply are absent.
type Row struct {
	Bench        string  `json:"bench"`             // lists, decode, rank, bitmap, schedule
	Workload     string  `json:"workload"`          // name of the data and queries
	Row          string  `json:"row"`               // name of the method: layout/algorithm, or another library
	Backend      string  `json:"backend,omitempty"` // host or opencl; absent for other libraries
	Device       string  `json:"device,omitempty"`  // name of the device
	Metric       string  `json:"metric"`            // throughput, response, kernel, upload, download, decode, ...
	Unit         string  `json:"unit"`              // unit of median, min and max
	Median       float64 `json:"median"`
	Min          float64 `json:"min"`
	Max          float64 `json:"max"`
	Runs         int     `json:"runs"`                    // number of timed runs
	Bytes        uint64  `json:"bytes,omitempty"`         // bytes moved in one run
	PeakFraction float64 `json:"peak_fraction,omitempty"` // fraction of the measured copy bandwidth
	Baseline     string  `json:"baseline,omitempty"`      // name of the row that ratio refers to
	Ratio        float64 `json:"ratio,omitempty"`         // median over the baseline's median, or its inverse for times
	Place        *Place  `json:"place,omitempty"`         // place in a table or figure
}

// Place is the place of a row in an exhibit: a table or figure.
type Place struct {
	Exhibit string  `json:"exhibit"`         // name of the table or figure: ao-fig5
	Panel   string  `json:"panel"`           // a table or plot of its own
	Series  string  `json:"series"`          // a column of the table, a line of the plot
	At      string  `json:"at"`              // a row of the table, a tick of the plot if ticks have names
	X       float64 `json:"x,omitempty"`     // place on the x axis
	Paper   float64 `json:"paper,omitempty"` // figure in the paper; absent if the paper states none
}

// Writer writes rows during a run, so that an interrupted run leaves its rows in an
// unfinished file.
type Writer struct {
	path string   // path of the finished file
	file *os.File // nil for stdout and for no output
	enc  *json.Encoder
}

// Unfinished is the suffix of a file that is not complete. After an error it stays.
const Unfinished = ".partial"

// Open starts a file of rows. "-" is stdout, the empty path discards rows. An existing
// file stays until Close.
func Open(path string, stdout io.Writer) (*Writer, error) {
	switch path {
	case "":
		return &Writer{}, nil
	case "-":
		return &Writer{enc: json.NewEncoder(stdout)}, nil
	}
	f, err := os.Create(path + Unfinished)
	if err != nil {
		return nil, err
	}
	return &Writer{path: path, file: f, enc: json.NewEncoder(f)}, nil
}

func (w *Writer) Write(rows ...Row) error {
	for _, r := range rows {
		if w.enc == nil {
			return nil
		}
		if err := w.enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the file. If err is nil it renames the file to its final name, otherwise
// it returns err together with its own errors.
func (w *Writer) Close(err error) error {
	if w.file == nil {
		return err
	}
	if err = errors.Join(err, w.file.Close()); err == nil {
		err = os.Rename(w.path+Unfinished, w.path)
	}
	return err
}

// ReadRows reads rows, one JSON object per line. An unknown key is an error.
func ReadRows(r io.Reader) (rows []Row, err error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	for {
		var row Row
		switch err := d.Decode(&row); {
		case err == io.EOF:
			return rows, nil
		case err != nil:
			return nil, err
		}
		rows = append(rows, row)
	}
}
