package collection

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"heddle/engine/collection/attributes"
	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/index/analyze"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax"
)

// Kind is the kind of a manifest. Programs that know only split indexes refuse it.
const Kind layout.Kind = "collection"

// Manifest is the state of a collection. Its form is the form of layout.Map, with more members.
type Manifest struct {
	Name string      `json:"name"`
	Kind layout.Kind `json:"kind"`
	// Epoch numbers the states, from 1.
	Epoch uint64 `json:"epoch"`
	// Next is above the numbers of all files that a state up to this one has had. 0 in manifests of earlier versions.
	Next uint64 `json:"next,omitempty"`
	// Backup: the folder is a backup, which has not been changed by itself.
	Backup bool `json:"backup,omitempty"`
	// Docs is the number of all documents, deleted documents included. Length is the sum of their lengths.
	Docs   uint64 `json:"docs"`
	Length uint64 `json:"length"`
	// Settings of all segments.
	Settings Settings `json:"settings"`
	// Segments are in the order of their documents. There is at least one; it may be empty.
	Segments []Segment `json:"shards"`
}

// Segment is a range of documents.
type Segment struct {
	layout.Shard
	Length  uint64      `json:"length"` // sum of the lengths of all documents
	Keys    layout.File `json:"keys"`
	Deleted *Deleted    `json:"deleted,omitempty"` // nil: none
}

// Deleted is the bitmap of deleted documents, in the portable format of Roaring.
type Deleted struct {
	layout.File
	Docs uint64 `json:"docs"` // number of deleted documents
}

// Live is the number of documents that are not deleted.
func (s *Segment) Live() uint64 {
	if s.Deleted == nil {
		return s.Docs
	}
	return s.Docs - s.Deleted.Docs
}

// Live is the number of documents that are not deleted.
func (m *Manifest) Live() (docs uint64) {
	for i := range m.Segments {
		docs += m.Segments[i].Live()
	}
	return docs
}

// Settings rule the index of each segment. See the fields of the same names in build.Options.
type Settings struct {
	Rules          int      `json:"rules"` // version of the rules of analysis: see analyze.Rules
	Tokens         string   `json:"tokens"`
	CJK            string   `json:"cjk,omitempty"`
	Fold           bool     `json:"fold,omitempty"`
	Stem           string   `json:"stem"`
	StopWords      []string `json:"stop_words,omitempty"`
	Codec          string   `json:"codec"`
	Dense          string   `json:"dense"`
	ExceptionRatio float64  `json:"exception_ratio"`
	Lengths        string   `json:"lengths"`
	Store          string   `json:"store,omitempty"`
	Positions      bool     `json:"positions,omitempty"`
	Fields         []string `json:"fields,omitempty"`
	// Text and ID are the members of JSON lines of a collection that stores sources.
	Text []string `json:"text,omitempty"`
	ID   string   `json:"id,omitempty"`
	// Attributes are the columns of the attribute table of each segment; nil for none.
	Attributes []attributes.Column `json:"attributes,omitempty"`
}

// apply sets the fields of a build.
func (s *Settings) apply(o *build.Options) {
	o.Rules, o.Tokens, o.CJK, o.Fold, o.Stem, o.StopWords = s.Rules, s.Tokens, s.CJK, s.Fold, s.Stem, s.StopWords
	o.Codec, o.Dense, o.ExceptionRatio, o.Lengths, o.Store, o.Positions = s.Codec, s.Dense, s.ExceptionRatio, s.Lengths, s.Store, s.Positions
	o.Fields = s.Fields
	o.Impacts = 0
	if s.Store == hdl.StoreSource {
		o.Text, o.ID = s.Text, s.ID
	}
	if len(s.Fields) > 0 {
		o.Text = nil
	}
}

// settingsOf returns the settings of an index.
func settingsOf(m *hdl.Meta) Settings {
	a := m.Analysis
	return Settings{a.Rules, a.Tokens, a.CJK, a.Fold, a.Stemmer, a.StopWords, m.Codec, m.Dense, m.ExceptionRatio, m.Lengths, m.Store, m.Positions, m.Fields, m.Text, m.ID, nil}
}

// Map is the collection as the shards of an index.
func (m *Manifest) Map() *layout.Map {
	all := &layout.Map{Name: m.Name, Kind: layout.Index, Epoch: m.Epoch, Docs: m.Docs, Length: m.Length}
	for _, s := range m.Segments {
		one := s.Shard
		if s.Deleted != nil {
			one.Deleted = s.Deleted.SHA256
		}
		all.Shards = append(all.Shards, one)
	}
	return all
}

// Shards reads the shards of a folder for a cluster, which is a split or a collection; the shards of a
// collection are its segments.
func Shards(dir string) (*layout.Map, error) {
	if !Is(dir) {
		return layout.ReadManifest(dir)
	}
	c, err := Read(dir)
	if err != nil {
		return nil, err
	}
	if gone := c.Docs - c.Live(); gone > 0 {
		return nil, fmt.Errorf("%s has %d deleted documents, which a cluster cannot leave out: run heddle collection merge first", dir, gone)
	}
	m := c.Map()
	m.Epoch = 0 // the cluster has epochs of its own
	return m, nil
}

// Validate returns an error that names the first wrong member.
func (m *Manifest) Validate() error {
	switch {
	case m.Kind != Kind:
		return fmt.Errorf("kind %q: want %q", m.Kind, Kind)
	case m.Epoch == 0:
		return fmt.Errorf("epoch is 0: it must be at least 1")
	}
	if r := m.Settings.Rules; r != analyze.Rules {
		return fmt.Errorf("%w: settings.rules is %d, this build has the analysis rules %d: build the collection again from its documents", container.ErrVersion, r, analyze.Rules)
	}
	if err := m.Map().Validate(); err != nil {
		return err
	}
	if err := attributes.Check(m.Settings.Attributes); err != nil {
		return fmt.Errorf("settings.%w", err)
	}
	for i, s := range m.Segments {
		if (s.Attributes != nil) != (m.Settings.Attributes != nil) {
			return fmt.Errorf("shards[%d].attributes: settings.attributes names %d columns", i, len(m.Settings.Attributes))
		}
		if err := s.Keys.Validate(); err != nil {
			return fmt.Errorf("shards[%d].keys.%w", i, err)
		}
		if s.Deleted == nil {
			continue
		}
		if err := s.Deleted.Validate(); err != nil {
			return fmt.Errorf("shards[%d].deleted.%w", i, err)
		}
		if s.Deleted.Docs > s.Docs {
			return fmt.Errorf("shards[%d].deleted.docs is %d: the segment has %d documents", i, s.Deleted.Docs, s.Docs)
		}
	}
	return nil
}

// files returns the names of all files.
func (m *Manifest) files() map[string]bool {
	all := map[string]bool{}
	for _, s := range m.Segments {
		all[s.Keys.File] = true
		for _, f := range s.Shard.Files() {
			all[f.File] = true
		}
		if s.Deleted != nil {
			all[s.Deleted.File.File] = true
		}
	}
	return all
}

// Parse reads a manifest of at most layout.MaxBytes.
func Parse(data []byte) (*Manifest, error) {
	if len(data) > layout.MaxBytes {
		return nil, fmt.Errorf("the manifest has %d bytes: at most %d are possible", len(data), layout.MaxBytes)
	}
	m := new(Manifest)
	if err := auxiliary.Unseal(data, m); err != nil {
		return nil, syntax.JSON(data, err)
	}
	return m, m.Validate()
}

// Read reads the manifest in a folder.
func Read(dir string) (*Manifest, error) {
	path := filepath.Join(dir, layout.ManifestName)
	data, err := auxiliary.Read(path, layout.MaxBytes)
	if err != nil {
		return nil, missing(dir, err)
	}
	m, err := Parse(data)
	switch {
	case errors.Is(err, container.ErrVersion):
		return nil, fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: %w", path, container.ErrCorrupt, err)
	}
	return m, nil
}

// missing explains the error for a manifest that does not exist.
func missing(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not a collection (heddle collection create makes one): %w", dir, err)
	}
	return err
}

// write replaces the manifest of a folder.
func (m *Manifest) write(d container.Disk, dir string) error {
	if err := m.Validate(); err != nil {
		return err
	}
	data, err := auxiliary.Seal(m)
	if err != nil {
		return err
	}
	return auxiliary.ReplaceOn(d, filepath.Join(dir, layout.ManifestName), data)
}

// Largest returns the segments with documents, the largest first.
func (m *Manifest) Largest() []Segment {
	all := slices.DeleteFunc(slices.Clone(m.Segments), func(s Segment) bool { return s.Docs == 0 })
	slices.SortStableFunc(all, func(a, b Segment) int { return cmp.Compare(b.Docs, a.Docs) })
	return all
}

// total sets the first documents of all segments, and the totals.
func (m *Manifest) total() {
	m.Docs, m.Length = 0, 0
	for i := range m.Segments {
		s := &m.Segments[i]
		s.First = m.Docs
		m.Docs, m.Length = m.Docs+s.Docs, m.Length+s.Length
	}
}

// Is reports whether a path is a folder with the manifest of a collection, which may be damaged
// beyond its kind.
func Is(path string) bool {
	data, err := auxiliary.Read(filepath.Join(path, layout.ManifestName), layout.MaxBytes)
	var m struct {
		Kind layout.Kind `json:"kind"`
	}
	return err == nil && json.Unmarshal(data, &m) == nil && m.Kind == Kind
}
