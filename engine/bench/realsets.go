package bench

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/engine/index/hdl"
	"heddle/engine/plan"
)

// realSets reads the real lists of opt.Real, once: a collection of each zip of
// real-roaring-datasets (a member a set, ascending decimals with commas between)
// and of each index. Without a folder there are none.
func (s *session) realSets() ([]collection, error) {
	if s.real != nil || s.opt.Real == "" {
		return s.real, nil
	}
	zips, err := filepath.Glob(filepath.Join(s.opt.Real, "*.zip"))
	if err != nil {
		return nil, err
	}
	indices, err := filepath.Glob(filepath.Join(s.opt.Real, "*.hdl"))
	if err != nil {
		return nil, err
	}
	if len(zips)+len(indices) == 0 {
		return nil, fmt.Errorf("no .zip and no .hdl in %s", s.opt.Real)
	}
	for _, path := range zips {
		c, err := readZip(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.real = append(s.real, c)
	}
	for _, path := range indices {
		c, err := readIndex(path)
		if err != nil {
			return nil, err
		}
		s.real = append(s.real, c)
	}
	return s.real, nil
}

// readZip reads a set from each member of a zip.
func readZip(path string) (c collection, err error) {
	c.name = strings.TrimSuffix(filepath.Base(path), ".zip")
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
		c.lists = append(c.lists, set)
	}
	return c, nil
}

// readSet reads ascending numbers with commas between.
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

// readIndex decodes the lists of an index of at least a hundred docIDs, the
// longest first, to 20 million.
func readIndex(path string) (c collection, err error) {
	c.name = strings.TrimSuffix(filepath.Base(path), ".hdl")
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
		c.lists = append(c.lists, docs)
	}
	return c, nil
}

// realFolder reports a folder that is not there.
func realFolder(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", path)
	}
	return err
}
