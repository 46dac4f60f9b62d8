package workload

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// ReadSets reads the real lists of a folder: one collection from each zip of
// real-roaring-datasets (one list per member, ascending decimals separated by commas)
// and one from each index. Without a folder there are none.
func ReadSets(folder string) (all []Collection, err error) {
	if folder == "" {
		return nil, nil
	}
	zips, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	if err != nil {
		return nil, err
	}
	indices, err := filepath.Glob(filepath.Join(folder, "*.hdl"))
	if err != nil {
		return nil, err
	}
	if len(zips)+len(indices) == 0 {
		return nil, fmt.Errorf("no .zip and no .hdl in %s", folder)
	}
	for _, path := range zips {
		c, err := readZip(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, c)
	}
	for _, path := range indices {
		c, err := readIndex(path)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// readZip reads one list from each member of a zip.
func readZip(path string) (c Collection, err error) {
	c.Name = strings.TrimSuffix(filepath.Base(path), ".zip")
	z, err := zip.OpenReader(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	for _, member := range z.File {
		if member.FileInfo().IsDir() {
			continue
		}
		r, err := member.Open()
		if err != nil {
			return c, err
		}
		set, err := readSet(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return c, fmt.Errorf("%s: %w", member.Name, err)
		}
		c.Lists = append(c.Lists, set)
	}
	return c, nil
}

// readSet reads ascending numbers, separated by commas.
func readSet(r io.Reader) (set []uint32, err error) {
	b := bufio.NewReader(r)
	for {
		text, end := b.ReadString(',')
		text = strings.TrimSpace(strings.TrimSuffix(text, ","))
		if text != "" {
			v, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				return nil, err
			}
			if v == math.MaxUint32 {
				return nil, fmt.Errorf("%d is no docID", v)
			}
			if n := len(set); n > 0 && uint32(v) <= set[n-1] {
				return nil, fmt.Errorf("%d comes after %d", v, set[n-1])
			}
			set = append(set, uint32(v))
		}
		if end == io.EOF {
			return set, nil
		}
		if end != nil {
			return nil, end
		}
	}
}

// readIndex decodes lists of an index that have at least a hundred docIDs, the longest
// first, up to 20 million docIDs.
func readIndex(path string) (c Collection, err error) {
	c.Name = strings.TrimSuffix(filepath.Base(path), ".hdl")
	f, err := hdl.Open(path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	src := f.Source()
	var handles []plan.Handle
	for h, l := range src.Lists {
		if l.Len >= 100 {
			handles = append(handles, plan.Handle(h))
		}
	}
	slices.SortFunc(handles, func(a, b plan.Handle) int {
		return cmp.Or(cmp.Compare(src.Lists[b].Len, src.Lists[a].Len), cmp.Compare(a, b))
	})
	total := 0
	for _, h := range handles {
		docs, err := src.List(h).AppendTo(nil)
		if err != nil {
			return c, fmt.Errorf("%s: list %d: %w", path, h, err)
		}
		if total += len(docs); total > 20_000_000 {
			break
		}
		c.Lists = append(c.Lists, docs)
	}
	return c, nil
}
