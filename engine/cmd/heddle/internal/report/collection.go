package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"heddle/engine/cmd/heddle/internal/terminal"
	"heddle/engine/collection"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
)

// Collection describes a collection.
type Collection struct {
	Path      string              `json:"path"`
	Epoch     uint64              `json:"epoch"`
	Documents uint64              `json:"documents"` // number of documents, without deleted documents
	Deleted   uint64              `json:"deleted"`
	Bytes     uint64              `json:"bytes"`
	Settings  collection.Settings `json:"settings"`
	Segments  []Segment           `json:"segments"`
}

// Segment describes a segment of a collection.
type Segment struct {
	File      string `json:"file"`
	First     uint64 `json:"first"`
	Documents uint64 `json:"documents"` // number of documents, without deleted documents
	Deleted   uint64 `json:"deleted"`
	Bytes     uint64 `json:"bytes"` // size of all files
}

// NewCollection describes the collection in a folder.
func NewCollection(dir string, m *collection.Manifest) *Collection {
	out := &Collection{Path: dir, Epoch: m.Epoch, Documents: m.Live(), Deleted: m.Docs - m.Live(), Settings: m.Settings}
	for _, s := range m.Segments {
		x := Segment{s.File, s.First, s.Live(), s.Docs - s.Live(), s.Size() + s.Keys.Bytes}
		if s.Deleted != nil {
			x.Bytes += s.Deleted.Bytes
		}
		out.Bytes += x.Bytes
		out.Segments = append(out.Segments, x)
	}
	return out
}

// Write writes a line for the whole, a line for the settings, and a table of segments.
func (s *Collection) Write(out io.Writer) error {
	set := &s.Settings
	fmt.Fprintf(out, "%s: state %d, %d documents, %d deleted, %d segments, %d bytes\n", terminal.Field(s.Path), s.Epoch, s.Documents, s.Deleted, len(s.Segments), s.Bytes)
	fmt.Fprintf(out, "tokenizer %s, CJK %s, fold %v, stemmer %s, stop words %d, codec %s, lengths %s, stored documents %s, positions %v\n",
		set.Tokens, cmp.Or(set.CJK, "none"), set.Fold, set.Stem, len(set.StopWords), set.Codec, set.Lengths, cmp.Or(set.Store, hdl.StoreNone), set.Positions)
	if len(set.Fields) > 0 {
		fmt.Fprintf(out, "fields %s\n", strings.Join(set.Fields, ", "))
	}
	for _, c := range set.Attributes {
		fmt.Fprintf(out, "attribute %s=%s\n", terminal.Field(c.Name), c.Type)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "segment\tfirst\tdocuments\tdeleted\tbytes\t\n")
	for _, x := range s.Segments {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t\n", terminal.Field(x.File), x.First, x.Documents, x.Deleted, x.Bytes)
	}
	return w.Flush()
}

// CollectionChange describes a change of a collection.
type CollectionChange struct {
	Path      string  `json:"path"`
	Epoch     uint64  `json:"epoch"`
	Added     *uint64 `json:"added,omitempty"`
	Replaced  *uint64 `json:"replaced,omitempty"`
	Updated   *uint64 `json:"updated,omitempty"`
	Deleted   *uint64 `json:"deleted,omitempty"`
	Missing   *uint64 `json:"missing,omitempty"` // names without a document
	Documents uint64  `json:"documents"`         // documents of the collection after the change

	// As in Build.
	Invalid  *Invalid        `json:"invalid,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
	LeftOut  []build.LeftOut `json:"left_out,omitempty"`
}

// Write writes one line.
func (c *CollectionChange) Write(out io.Writer) error {
	text := ""
	for _, n := range []struct {
		name  string
		value *uint64
	}{{"added", c.Added}, {"replaced", c.Replaced}, {"updated", c.Updated}, {"deleted", c.Deleted}, {"names without a document", c.Missing}} {
		if n.value != nil {
			text += fmt.Sprintf("%s %d, ", n.name, *n.value)
		}
	}
	_, err := fmt.Fprintf(out, "%s: state %d: %sdocuments %d\n", terminal.Field(c.Path), c.Epoch, text, c.Documents)
	return err
}

// Copied describes a backup, or a collection from one.
type Copied struct {
	Path      string `json:"path"`
	Epoch     uint64 `json:"epoch"`
	Documents uint64 `json:"documents"`
	Files     int    `json:"files"`   // of the state
	Written   int    `json:"written"` // files that were not there before
	Linked    int    `json:"linked"`  // of these, hard links
	Bytes     uint64 `json:"bytes"`   // of the written files
}

// Write writes one line.
func (c *Copied) Write(out io.Writer) error {
	_, err := fmt.Fprintf(out, "%s: state %d, documents %d, files %d, written %d (%d bytes), hard links %d\n", terminal.Field(c.Path), c.Epoch, c.Documents, c.Files, c.Written, c.Bytes, c.Linked)
	return err
}
