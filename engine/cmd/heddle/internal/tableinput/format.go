// Package tableinput finds the files and the format of the inputs of a table, and has the flags for CSV.
package tableinput

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"heddle/engine/file/input"
)

// ErrMixed tells that folders have files of several formats.
var ErrMixed = errors.New("choose one with --format")

// Expand replaces folders among inputs by their tables: by the format, else (auto) the files whose
// names end like names of CSV or Parquet files. It leaves out the other files of folders.
func Expand(inputs []string, format string) (paths, left []string, err error) {
	formats := map[string]string{} // the first file of each format
	paths, err = input.Expand(inputs, func(path string) bool {
		found := formatOf(path)
		if found == "" || format != "auto" && found != format {
			left = append(left, path)
			return false
		}
		formats[found] = cmp.Or(formats[found], path)
		return true
	})
	switch {
	case errors.Is(err, input.ErrNoInputs):
		err = fmt.Errorf("%w whose names end in .csv, .tsv or .parquet", err)
	case err == nil && len(formats) > 1:
		err = fmt.Errorf("%s is CSV and %s is Parquet: %w", formats["csv"], formats["parquet"], ErrMixed)
	}
	return paths, left, err
}

// formatOf is csv or parquet by the name of a file, or the empty string.
func formatOf(path string) string {
	switch {
	case isParquet(path):
		return "parquet"
	case isTSV(path), strings.EqualFold(filepath.Ext(input.TrimSuffix(path)), ".csv"):
		return "csv"
	}
	return ""
}

func isTSV(path string) bool {
	return strings.EqualFold(filepath.Ext(input.TrimSuffix(path)), ".tsv")
}

func isParquet(path string) bool { return strings.EqualFold(filepath.Ext(path), ".parquet") }

// IsParquet reports whether inputs are Parquet files: by the format unless it is auto, by the name of
// the first input, or by its first bytes.
func IsParquet(first, format string) bool {
	if format != "auto" || first == "-" {
		return format == "parquet"
	}
	if isParquet(first) {
		return true
	}
	if info, err := os.Stat(first); err != nil || !info.Mode().IsRegular() {
		return false // the first bytes of a pipe can be read only once
	}
	f, err := os.Open(first)
	if err != nil {
		return false // the next attempt to open it returns the error
	}
	defer f.Close()
	var magic [4]byte
	n, _ := f.Read(magic[:])
	return string(magic[:n]) == "PAR1"
}
