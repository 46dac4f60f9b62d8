package build

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"
	"unicode/utf8"

	"heddle/engine/file/container"
	"heddle/engine/table/binning"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
)

// Defaults of Options.
const (
	DefaultBins   = 64
	DefaultMemory = 1 << 30 // bytes
)

// Settings say how a column is indexed.
type Settings struct {
	// Bins is the greatest number of bins. Default: 0, which takes DefaultBins, and with the binning auto leaves
	// out vectors that do not pay.
	Bins     int
	Binning  column.Binning
	Encoding column.Encoding

	forced bool // Bins was given
}

// Options say how a table is built. Of the zero value every field is the default.
type Options struct {
	Settings                     // settings of all columns that are not in Columns
	Columns  map[string]Settings // settings of single columns by name; the name of no column gives a *read.ColumnError

	// Word is the size of the words of vectors, 32 or 64 bits. The default, 0, chooses 64
	// if a sample of the rows shows at most 5 % more memory, because 64-bit words are read
	// faster; else 32.
	Word int

	// Memory bounds the structures that grow with the rows, in bytes: the texts of String and
	// Decimal128 columns, later vectors in progress. Both spill to disk. The batches of the source,
	// binning.Memory per column, and up to 16 MiB per core come on top; the package comment states the rest.
	Memory uint64

	// TempDir is the folder for temporary files; the default is the folder of the table.
	TempDir string

	// Creator and Source are stored in the table: the program with its version, and the
	// names of the inputs.
	Creator, Source string

	// Disk takes the table in the end. The default is container.OSDisk.
	Disk container.Disk

	// Progress, unless nil, is called now and then by the goroutine that called Build.
	Progress func(Progress)

	run uint64 // rows of a run: runRows, less in tests
}

// Progress is how far a Build has got.
type Progress struct {
	Writing     bool  // all is read, columns are being written
	Done, Total int64 // bytes of the inputs, then values; Total is 0 if it is unknown
	Rows        uint64
}

// Report describes a finished build.
type Report struct {
	Rows       uint32
	Word       int // bits
	Columns    []ColumnReport
	Invalid    read.InvalidRows
	InputBytes int64 // bytes of the inputs as they are stored, before decompression
	FileBytes  int64
	TempBytes  int64         // written to temporary files of this package
	Read       time.Duration // time of reading the inputs to temporary files
	Write      time.Duration // time of writing the table
}

// ColumnReport describes the size of a column.
type ColumnReport struct {
	Name     string
	Type     column.Type
	List     bool   // multi-valued
	Values   uint32 // number of values of a multi-valued column, in all rows
	Binning  column.Binning
	Encoding column.Encoding
	Bins     int
	Vectors  int
	Missing  uint32
	// VectorBytes is the size of the vectors, ValueBytes the size of the stored values.
	VectorBytes, ValueBytes uint64
}

// TypeName is the name of the type, such as "string", or "string[]" of a multi-valued column.
func (r *ColumnReport) TypeName() string {
	c := column.Column{Type: r.Type}
	if r.List {
		c.Values = &c
	}
	return c.TypeName()
}

// complete puts the defaults in for zeros, and checks the rest.
func (o Options) complete(path string, fields []read.Field) (Options, error) {
	o.Memory = cmp.Or(o.Memory, DefaultMemory)
	o.run = cmp.Or(o.run, runRows)
	o.TempDir = cmp.Or(o.TempDir, filepath.Dir(path))
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Word != 0 && o.Word != 32 && o.Word != 64 {
		return o, fmt.Errorf("vectors of %d-bit words; possible are 32 and 64", o.Word)
	}
	if len(fields) == 0 {
		return o, fmt.Errorf("a table without columns")
	}
	var names []string
	taken := map[string]bool{}
	for i, f := range fields {
		names = append(names, f.Name)
		switch {
		case f.Name == "" || !utf8.ValidString(f.Name):
			return o, fmt.Errorf("column %d: its name, %q, is empty or not UTF-8", i+1, f.Name)
		case taken[f.Name]:
			return o, fmt.Errorf("two columns are called %q", f.Name)
		}
		taken[f.Name] = true
		if s := o.settings(f.Name); s.Bins < 1 || s.Bins > binning.MaxBins {
			return o, fmt.Errorf("column %q: %d bins; possible are 1 to %d", f.Name, s.Bins, binning.MaxBins)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Columns)) {
		if !slices.Contains(names, name) {
			return o, fmt.Errorf("settings: %w", &read.ColumnError{Name: name, Names: names})
		}
	}
	return o, nil
}

// settings returns the settings of a column.
func (o *Options) settings(name string) Settings {
	s, ok := o.Columns[name]
	if !ok {
		s = o.Settings
	}
	s.Bins, s.forced = cmp.Or(s.Bins, DefaultBins), s.Bins != 0
	return s
}

// workers is the number of columns that are worked on at a time.
func workers() int { return runtime.GOMAXPROCS(0) }
