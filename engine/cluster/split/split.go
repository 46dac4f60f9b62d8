// Package split cuts an index or a table into shards. A shard is a complete file of consecutive
// documents or rows, and the file that a build of these documents alone would write: with names,
// lengths, stored documents, analysis and settings of the whole. Impacts are the impacts of the whole.
//
// An index without cuts of its own is cut so that the sums of the lengths of documents, plus 8 per
// document, are about equal. The length of a document is about its number of postings, and 8
// postings take about the room of a name and the numbers of a document. So shards are about equal
// in bytes and in the work of a query, and each has a bounded number of documents. Tables are cut
// into equal numbers of rows.
package split

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"heddle/engine/internal/layout"
)

// Options say where a file is cut.
type Options struct {
	// Shards is the number of shards, 1 to layout.MaxShards. Some are empty where there are
	// fewer documents.
	Shards int
	// Cuts, unless nil, are the first documents of all shards but the first, ascending. Shards
	// is ignored then.
	Cuts []uint64
	// Like, unless nil, has the cuts of an index or table with the same number of documents.
	Like *layout.Map
	// Attributes is the attribute table of an index, which is cut where the index is. Default: "", none.
	Attributes string
	// Force permits a folder with other files than shards. They stay.
	Force bool
	// Progress, unless nil, is called now and then by the goroutine that called File: postings
	// or rows so far, and in all.
	Progress func(done, total uint64)
}

// File cuts the index (.hdl) or table (.hdb) at path into shards in a folder, and writes their
// manifest there.
//
// The manifest appears last and in one step, and a manifest before it stays valid until then. An
// error, or that ctx ends, leaves nothing behind. A folder with other content than shards is
// refused with container.ErrForeign.
//
// Memory does not grow with the file, except for 24 bytes per posting of its longest list, and
// for descriptions of its terms or the dictionaries of its columns.
func File(ctx context.Context, path, dir string, opt Options) (*layout.Map, error) {
	if opt.Progress == nil {
		opt.Progress = func(uint64, uint64) {}
	}
	if strings.EqualFold(filepath.Ext(path), ".hdb") {
		if opt.Attributes != "" {
			return nil, fmt.Errorf("%s is a table: only an index has an attribute table", path)
		}
		return table(ctx, path, dir, &opt)
	}
	return index(ctx, path, dir, &opt)
}

// name is the name of a collection: of its file, without the suffix.
func name(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// docWeight is the weight of a document beside its length.
const docWeight = 8

// lengths calls f with the lengths of all documents.
type lengths func(f func(length uint32) error) error

// equal is the lengths of documents that weigh the same.
func equal(docs uint64) lengths {
	return func(f func(length uint32) error) error {
		for range docs {
			if err := f(0); err != nil {
				return err
			}
		}
		return nil
	}
}

// cuts returns the first documents of all shards, and the number of documents.
func (o *Options) cuts(docs uint64, all lengths) ([]uint64, error) {
	switch {
	case o.Like != nil && o.Like.Docs != docs:
		return nil, fmt.Errorf("the manifest has cuts for %d documents or rows, the file has %d", o.Like.Docs, docs)
	case o.Like != nil:
		return checkCuts(o.Like.Cuts(), docs)
	case o.Cuts != nil:
		return checkCuts(o.Cuts, docs)
	case o.Shards < 1 || o.Shards > layout.MaxShards:
		return nil, fmt.Errorf("%d shards; possible are 1 to %d", o.Shards, layout.MaxShards)
	}
	return balance(docs, o.Shards, all)
}

// checkCuts adds the ends to given cuts.
func checkCuts(cuts []uint64, docs uint64) ([]uint64, error) {
	all := slices.Concat([]uint64{0}, cuts, []uint64{docs})
	for i := range all[1:] {
		if all[i+1] < all[i] {
			return nil, fmt.Errorf("cut %d is document %d; it must be from %d to %d", i+1, all[min(i+1, len(cuts))], all[i], docs)
		}
	}
	if len(cuts) >= layout.MaxShards {
		return nil, fmt.Errorf("%d cuts; at most %d are possible", len(cuts), layout.MaxShards-1)
	}
	return all, nil
}

// balance cuts documents into n shards of about the same weight.
func balance(docs uint64, n int, all lengths) ([]uint64, error) {
	total := uint64(0)
	if err := all(func(length uint32) error { total += uint64(length) + docWeight; return nil }); err != nil {
		return nil, err
	}
	cuts := make([]uint64, 1, n+1)
	shards, before, doc := uint64(n), uint64(0), uint64(0)
	next := func() uint64 { // weight of the shards before the next cut
		i := uint64(len(cuts))
		if i >= shards {
			return math.MaxUint64
		}
		return total/shards*i + total%shards*i/shards
	}
	err := all(func(length uint32) error {
		weight := uint64(length) + docWeight
		for next() <= before+weight/2 {
			cuts = append(cuts, doc)
		}
		before += weight
		doc++
		return nil
	})
	for len(cuts) <= n {
		cuts = append(cuts, docs)
	}
	return cuts, err
}
