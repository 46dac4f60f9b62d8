package measure

import (
	"encoding/json"
	"errors"
	"io"
	"os"
)

// Row is one measured figure: a line of --json. What makes no sense for it is
// absent.
type Row struct {
	Bench        string  `json:"bench"`                   // lists, decode, rank, bitmap
	Workload     string  `json:"workload"`                // what was worked on
	Row          string  `json:"row"`                     // what worked on it: layout/algorithm, a peer
	Backend      string  `json:"backend,omitempty"`       // host, opencl; absent for a peer
	Device       string  `json:"device,omitempty"`        // its name
	Metric       string  `json:"metric"`                  // throughput, response, kernel, upload, download, decode, ...
	Unit         string  `json:"unit"`                    // of median, min and max
	Median       float64 `json:"median"`                  //
	Min          float64 `json:"min"`                     //
	Max          float64 `json:"max"`                     //
	Runs         int     `json:"runs"`                    // timed
	Bytes        uint64  `json:"bytes,omitempty"`         // moved in one run
	PeakFraction float64 `json:"peak_fraction,omitempty"` // of the measured copy bandwidth
	Baseline     string  `json:"baseline,omitempty"`      // the row that ratio compares with
	Ratio        float64 `json:"ratio,omitempty"`         // median over the baseline's
}

// rowWriter writes rows as they come, so that a run that is stopped leaves what
// it measured, under the name of an unfinished file.
type Writer struct {
	path string   // of the finished file
	file *os.File // nil for stdout and for nothing
	enc  *json.Encoder
}

// unfinished is added to the name of the file while rows are still to come, and
// stays after an error.
const Unfinished = ".partial"

// openRows starts the file at path, "-" being stdout, "" nothing. What lies at
// path stays as it is until the rows are complete.
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

// close ends the file, gives it its name if err is nil, and joins its own errors
// to err.
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
