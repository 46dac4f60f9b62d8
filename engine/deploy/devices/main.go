// Command devices writes the table of OpenCL implementations in engine/deploy/devices.md from the records of
// runs beside it:
//
//	go run ./engine/deploy/devices
//
// A record is a file NAME.json. Its member devices is the output of
//
//	heddle devices --json
//
// The other members are described by Record; fill them in by hand from the output of the tests
// (.ci/run counts the tests of each label) and of a benchmark.
package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Record is a run of heddle on one OpenCL implementation.
type Record struct {
	Implementation string   `json:"implementation"` // with its version and its source
	Date           string   `json:"date"`           // day of the run
	Suite          string   `json:"suite"`          // tests that ran, and their results
	Speed          string   `json:"speed"`          // multiple of the speed of pure Go, with the workload
	Quirks         []string `json:"quirks"`         // faults and limits that heddle minds, with their reasons
	Devices        []Device `json:"devices"`
}

// Device is a device in the output of heddle devices --json.
type Device struct {
	Kind     string  `json:"kind"`
	Device   string  `json:"device"`
	Driver   string  `json:"driver"`
	Usable   bool    `json:"usable"`
	Error    string  `json:"error"`
	SelfTest float64 `json:"self_test"` // seconds; 0: not recorded
}

//go:embed *.json
var records embed.FS

const (
	page  = "engine/deploy/devices.md"
	begin = "<!-- The command engine/deploy/devices writes this part. -->\n"
	end   = "<!-- End of the written part. -->\n"
)

func main() {
	if err := write(page); err != nil {
		fmt.Fprintln(os.Stderr, "devices:", err)
		os.Exit(1)
	}
}

func write(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := renew(old)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// renew returns the page with the present records.
func renew(text []byte) ([]byte, error) {
	before, rest, found := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		return nil, fmt.Errorf("%s has no lines %q and %q", page, begin, end)
	}
	entries, err := records.ReadDir(".")
	if err != nil {
		return nil, err
	}
	var table, quirks strings.Builder
	for _, e := range entries {
		data, err := records.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		var r Record
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		if err := r.rows(&table); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		for _, q := range r.Quirks {
			fmt.Fprintf(&quirks, "- %s: %s\n", r.Implementation, q)
		}
	}
	return fmt.Appendf(nil, `%s%s| implementation | device | driver | self-tests | suite | speed, pure Go on the same machine = 1 | date |
|---|---|---|---|---|---|---|
%s
%s%s%s`, before, begin, &table, &quirks, end, after), nil
}

// rows adds a row for each OpenCL device.
func (r *Record) rows(table *strings.Builder) error {
	found := false
	for _, d := range r.Devices {
		if d.Kind != "opencl" {
			continue
		}
		found = true
		tests := "not usable: " + d.Error
		if d.Usable {
			tests = "passed"
		}
		if d.Usable && d.SelfTest > 0 {
			tests += fmt.Sprintf(" in %.2g s", d.SelfTest)
		}
		cells := []string{r.Implementation, d.Device, d.Driver, tests, r.Suite, r.Speed, r.Date}
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", "\\|")
		}
		fmt.Fprintf(table, "| %s |\n", strings.Join(cells, " | "))
	}
	if !found {
		return fmt.Errorf("no OpenCL device")
	}
	return nil
}
