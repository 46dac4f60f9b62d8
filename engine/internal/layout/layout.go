// Package layout describes how an index or table lies in parts: the manifest of a split, and the
// map of a cluster, which adds the nodes that hold each part.
//
// # Statistics
//
// A shard ranks like the whole with the statistics of the whole. Map holds the statistics that do
// not depend on a query: WithTerms is N of BM25, and Length divided by it is the average length. The
// document frequencies of the terms of a query are the sums of the frequencies in all shards.
// Nothing else is necessary: each shard stores the analysis, the precision of lengths, and the
// bits and scale of impacts of the whole, and the weights of terms become integers by a rule that
// depends on the query and these statistics alone.
package layout

import (
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"sort"
	"strings"

	"heddle/engine/file/auxiliary"
	"heddle/engine/syntax"
)

// Limits of a map.
const (
	MaxShards   = 1 << 16
	MaxReplicas = 64
	MaxName     = 255      // bytes of the name of a collection, a file or a node
	MaxBytes    = 32 << 20 // greatest size of the JSON of a map, in bytes
)

// Kind is the kind of a collection.
type Kind string

const (
	Index Kind = "index"
	Table Kind = "table"
)

// Map describes a collection of shards. A manifest is a map without epoch and replicas.
type Map struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// Epoch numbers the maps of a collection, from 1. All shards of an answer belong to one
	// epoch. A manifest has epoch 0.
	Epoch uint64 `json:"epoch,omitempty"`
	// Docs is the number of documents or rows of the whole.
	Docs uint64 `json:"docs"`
	// WithTerms is the number of documents with at least one term. Tables have none.
	WithTerms uint64 `json:"with_terms,omitempty"`
	// Length is the sum of the lengths of all documents, in tokens. Tables have none.
	Length uint64 `json:"length,omitempty"`
	// Shards are in the order of their documents. They leave no gap.
	Shards []Shard `json:"shards"`
}

// Shard is a range of documents in one file.
type Shard struct {
	// File is the name of the file beside the manifest.
	File string `json:"file"`
	// First is the number of the shard's first document in the whole.
	First uint64 `json:"first"`
	Docs  uint64 `json:"docs"`
	Bytes uint64 `json:"bytes"`
	// SHA256 of the file, in hexadecimal.
	SHA256 string `json:"sha256"`
	// Attributes is the table with the attributes of the documents of an index: its row i describes
	// document i of the shard. All shards of an index have one, or none has.
	Attributes *File `json:"attributes,omitempty"`
	// Replicas are the names of the nodes that hold the shard.
	Replicas []string `json:"replicas,omitempty"`
	// Deleted is the SHA256 of the bitmap of the deleted documents of a collection; empty for none. Files
	// do not have it.
	Deleted string `json:"-"`
}

// File is a file beside the manifest.
type File struct {
	File  string `json:"file"`
	Bytes uint64 `json:"bytes"`
	// SHA256 of the file, in hexadecimal.
	SHA256 string `json:"sha256"`
}

// Files returns all files of the shard.
func (s *Shard) Files() []File {
	all := []File{{File: s.File, Bytes: s.Bytes, SHA256: s.SHA256}}
	if s.Attributes != nil {
		all = append(all, *s.Attributes)
	}
	return all
}

// Size is the number of bytes of all files.
func (s *Shard) Size() (bytes uint64) {
	for _, f := range s.Files() {
		bytes += f.Bytes
	}
	return bytes
}

// Validate returns an error that names the first wrong member.
func (m *Map) Validate() error {
	switch {
	case m.Kind != Index && m.Kind != Table:
		return fmt.Errorf("kind %q: use %q or %q", m.Kind, Index, Table)
	case m.Name == "" || len(m.Name) > MaxName:
		return fmt.Errorf("name has %d bytes: it must have 1 to %d", len(m.Name), MaxName)
	case len(m.Shards) == 0 || len(m.Shards) > MaxShards:
		return fmt.Errorf("shards has %d elements: it must have 1 to %d", len(m.Shards), MaxShards)
	}
	next, files := uint64(0), make(map[string]bool, len(m.Shards))
	for i, s := range m.Shards {
		switch {
		case s.First != next:
			return fmt.Errorf("shards[%d].first is %d: the shards before it end at %d", i, s.First, next)
		case s.Docs > m.Docs-next:
			return fmt.Errorf("shards[%d].docs is %d: the whole has %d documents, of which %d are left", i, s.Docs, m.Docs, m.Docs-next)
		case s.Docs > math.MaxUint32:
			return fmt.Errorf("shards[%d].docs is %d: a shard has at most %d documents", i, s.Docs, uint32(math.MaxUint32))
		}
		if err := s.Validate(); err != nil {
			return fmt.Errorf("shards[%d].%w", i, err)
		}
		if (s.Attributes != nil) != (m.Shards[0].Attributes != nil) {
			return fmt.Errorf("shards[%d].attributes: some shards have attributes and others have none", i)
		}
		for _, f := range s.Files() {
			if files[f.File] {
				return fmt.Errorf("shards[%d].file is %q: an earlier shard has the same file", i, f.File)
			}
			files[f.File] = true
		}
		next += s.Docs
	}
	if next != m.Docs {
		return fmt.Errorf("the shards have %d documents, the whole has %d", next, m.Docs)
	}
	return nil
}

// Validate checks the members of a shard that do not depend on other shards. The error begins
// with the name of the member.
func (s *Shard) Validate() error {
	for i, f := range s.Files() {
		if err := f.Validate(); err != nil {
			return fmt.Errorf("%s%w", []string{"", "attributes."}[i], err)
		}
	}
	if len(s.Replicas) > MaxReplicas {
		return fmt.Errorf("replicas has %d elements: at most %d are possible", len(s.Replicas), MaxReplicas)
	}
	for i, node := range s.Replicas {
		if node == "" || len(node) > MaxName {
			return fmt.Errorf("replicas[%d] has %d bytes: it must have 1 to %d", i, len(node), MaxName)
		}
	}
	return nil
}

// Validate checks the members. The error begins with the name of the member.
func (f *File) Validate() error {
	if f.File == "" || len(f.File) > MaxName || !filepath.IsLocal(f.File) || strings.ContainsAny(f.File, `/\`) || f.File == "." {
		return fmt.Errorf("file is %q: it must be the name of a file, without a folder, of at most %d bytes", f.File, MaxName)
	}
	if len(f.SHA256) != 64 {
		return fmt.Errorf("sha256 has %d digits: it must have 64", len(f.SHA256))
	}
	if _, err := hex.DecodeString(f.SHA256); err != nil || strings.ToLower(f.SHA256) != f.SHA256 {
		return fmt.Errorf("sha256 is %q: its digits must be 0 to 9 and a to f", f.SHA256)
	}
	return nil
}

// Cuts are the first documents of all shards but the first.
func (m *Map) Cuts() []uint64 {
	var cuts []uint64
	for _, s := range m.Shards[1:] {
		cuts = append(cuts, s.First)
	}
	return cuts
}

// Find returns the number of the shard with a document, which must be less than Docs.
func (m *Map) Find(doc uint64) int {
	return sort.Search(len(m.Shards), func(i int) bool { s := &m.Shards[i]; return doc < s.First+s.Docs })
}

// Parse reads a map or a manifest of at most MaxBytes, and compares its checksum if it has one.
func Parse(data []byte) (*Map, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the map has %d bytes: at most %d are possible", len(data), MaxBytes)
	}
	m := new(Map)
	if err := auxiliary.Unseal(data, m); err != nil {
		return nil, syntax.JSON(data, err)
	}
	return m, m.Validate()
}
