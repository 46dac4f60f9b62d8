// Package report describes index files, table files and cost models, as JSON and as
// tables for people. Its JSON names are part of the command line's contract.
package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"heddle/engine/file/container"
)

// Section is one section of a file.
type Section struct {
	Name     string `json:"name"`
	Offset   int64  `json:"offset"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"`
}

func sections(list []container.Section) []Section {
	all := []Section{}
	for _, s := range list {
		all = append(all, Section{s.Name, s.Offset, s.Length, fmt.Sprintf("%08x", s.Checksum)})
	}
	return all
}

func writeSections(out io.Writer, all []Section) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "section\toffset\tbytes\tchecksum\t\n")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t\n", s.Name, s.Offset, s.Bytes, s.Checksum)
	}
	w.Flush()
}
