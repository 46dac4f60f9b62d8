package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/rs/zerolog"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/index/build"
)

// Build describes a finished build of an index. Its names in JSON are part of the command
// line's contract.
type Build struct {
	Path       string   `json:"path"`
	Documents  uint64   `json:"documents"`
	Terms      uint64   `json:"terms"`
	Postings   uint64   `json:"postings"`
	Tokens     uint64   `json:"tokens"`
	ReadBytes  int64    `json:"read_bytes"` // compressed size
	Bytes      int64    `json:"bytes"`      // size of the index file
	Runs       int      `json:"runs"`       // sorted runs spilled to disk
	Unnamed    uint64   `json:"unnamed"`    // documents with their line as name
	Duplicates uint64   `json:"duplicates"` // documents with the name of an earlier document
	Invalid    Invalid  `json:"invalid"`
	Warnings   []string `json:"warnings,omitempty"`

	LeftOut []build.LeftOut `json:"left_out,omitempty"` // members or elements with texts that are neither indexed nor attributes
}

// Invalid counts the invalid documents of a build.
type Invalid struct {
	Encoding uint64 `json:"encoding"` // with an invalid encoding
	Tabs     uint64 `json:"tabs"`     // lines of text with a TAB or without, unlike the first line
	Records  uint64 `json:"records"`  // unreadable
	Skipped  uint64 `json:"skipped"`  // skipped records in all, which are absent from the index
	First    string `json:"first,omitempty"`
}

// NewBuild describes the build of the file at path.
func NewBuild(path string, s *build.Summary) *Build {
	b := &Build{
		path, s.Documents, s.Terms, s.Postings, s.Tokens, s.ReadBytes, s.FileBytes, s.Runs, s.Unnamed, s.Duplicates,
		Invalid{Encoding: s.Invalid.Encoding, Tabs: s.Invalid.Tabs, Records: s.Invalid.Records, Skipped: s.Invalid.Skipped}, s.Warnings, s.LeftOut,
	}
	if s.Invalid.First != nil {
		b.Invalid.First = s.Invalid.First.Error()
	}
	return b
}

// Write writes one line.
func (b *Build) Write(out io.Writer) error {
	line := fmt.Sprintf("%s: %d documents, %d terms, %d postings, %s", b.Path, b.Documents, b.Terms, b.Postings, terminal.Bytes(uint64(b.Bytes)))
	if b.Unnamed > 0 {
		line += fmt.Sprintf(", %d named by their lines", b.Unnamed)
	}
	if b.Duplicates > 0 {
		line += fmt.Sprintf(", %d with the name of another", b.Duplicates)
	}
	if n := b.Invalid.Encoding + b.Invalid.Tabs + b.Invalid.Records; n > 0 {
		line += fmt.Sprintf(", %d invalid, %d skipped", n, b.Invalid.Skipped)
	}
	_, err := fmt.Fprintln(out, line)
	return err
}

// Warn logs the doubtful parts of the inputs of a build.
func Warn(log zerolog.Logger, sum *build.Summary) {
	for _, w := range sum.Warnings {
		log.Warn().Msg(w)
	}
	if members := leftOut(sum.LeftOut); members != "" {
		log.Warn().Msgf("members or elements with texts that are neither indexed nor attributes: %s; --text or --fields chooses", members)
	}
	if sum.Duplicates > 0 {
		log.Warn().Msgf("documents with the name of an earlier document: %d; the first: %q, document %d", sum.Duplicates, sum.Duplicate.Name, sum.Duplicate.Doc)
	}
	if sum.Invalid.First != nil {
		log.Warn().Msgf("invalid documents: %d (%s), skipped: %d; the first: %v", sum.Invalid.Count(), &sum.Invalid, sum.Invalid.Skipped, sum.Invalid.First)
	}
}

// leftOut lists members with their numbers of documents, at most ten.
func leftOut(all []build.LeftOut) string {
	var parts []string
	for _, m := range all[:min(len(all), 10)] {
		parts = append(parts, fmt.Sprintf("%s (%d)", m.Member, m.Documents))
	}
	if more := len(all) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}
