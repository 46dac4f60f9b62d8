package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"heddle/engine/internal/container"
)

// section is one of a file, in the answers of index info and bitmap info.
type section struct {
	Name     string `json:"name"`
	Offset   int64  `json:"offset"`
	Bytes    int64  `json:"bytes"`
	Checksum string `json:"checksum"`
}

func describeSections(list []container.Section) []section {
	all := []section{}
	for _, s := range list {
		all = append(all, section{s.Name, s.Offset, s.Length, fmt.Sprintf("%08x", s.Checksum)})
	}
	return all
}

func writeSections(out io.Writer, all []section) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "section\toffset\tbytes\tchecksum\t\n")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t\n", s.Name, s.Offset, s.Bytes, s.Checksum)
	}
	w.Flush()
}
