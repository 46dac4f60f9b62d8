package split

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"heddle/engine/file/mapped"
	"heddle/engine/index/bm25"
	"heddle/engine/index/build"
	"heddle/engine/index/hdl"
	"heddle/engine/index/merge"
	"heddle/engine/internal/layout"
)

// index cuts an index file. It reads the lists once for every 16 shards.
func index(ctx context.Context, path, dir string, opt *Options) (m *layout.Map, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	f, err := hdl.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	docs := f.Docs()
	cuts, err := opt.cuts(uint64(docs), func(each func(uint32) error) error {
		for d := range docs {
			if err := each(f.DocLen(d)); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	to, err := openFolder(dir, opt.Force)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	meta, n := f.Meta(), len(cuts)-1
	work := progress{opt.Progress, 0, meta.Postings * uint64((n+maxWriters-1)/maxWriters)}
	for from := 0; from < n; from += maxWriters {
		if err := copyShards(ctx, f, to, cuts, from, min(from+maxWriters, n), &work); err != nil {
			return nil, err
		}
	}
	if opt.Attributes != "" {
		if err := attributes(ctx, docs, cuts, to, opt); err != nil {
			return nil, err
		}
	}
	m = newMap(name(path), layout.Index, cuts)
	m.WithTerms, m.Length = uint64(meta.WithTerms), meta.Length
	return m, to.publish(m, ".hdl")
}

// newMap is the manifest of shards with these cuts.
func newMap(name string, kind layout.Kind, cuts []uint64) *layout.Map {
	n := len(cuts) - 1
	m := &layout.Map{Name: name, Kind: kind, Docs: cuts[n]}
	for i := range n {
		m.Shards = append(m.Shards, layout.Shard{First: cuts[i], Docs: cuts[i+1] - cuts[i]})
	}
	return m
}

// progress counts finished work.
type progress struct {
	report      func(done, total uint64)
	done, total uint64
}

func (p *progress) add(n uint64) {
	p.done += n
	p.report(p.done, p.total)
}

// copyShards writes the shards from to to-1 of an index file.
func copyShards(ctx context.Context, f *hdl.File, dir *folder, cuts []uint64, from, to int, work *progress) (err error) {
	p, err := newPass(dir, f.Meta(), cuts, from, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.abort()) }()
	part := merge.Part{File: f, First: uint32(cuts[from]), End: uint32(cuts[to])}
	if err := merge.Copy(ctx, []merge.Part{part}, p, work.add); err != nil {
		return err
	}
	return p.commit()
}

// MaxBuild is the greatest number of shards that Output writes.
const MaxBuild = 64

// Output is a build.Output that writes shards of a balanced size into a folder. They equal the
// shards that File makes from the whole index. Memory is 6 MiB a shard, of at most MaxBuild.
type Output struct {
	folder         *folder
	pass           *pass
	meta           hdl.Meta
	m              *layout.Map
	length, tokens uint64
}

// Create starts the shards of an index in the folder dir. It is for build.Options.Create. The
// folder gets the rules of File.
func Create(dir string, shards int, force bool, meta hdl.Meta, all func(func(uint32) error) error) (*Output, error) {
	if shards < 1 || shards > MaxBuild {
		return nil, fmt.Errorf("%d shards; a build writes 1 to %d, and heddle cluster split more", shards, MaxBuild)
	}
	stored := lengths(all)
	if meta.Lengths == hdl.LengthsLucene {
		stored = func(f func(uint32) error) error {
			return all(func(length uint32) error { return f(bm25.RoundLength(length)) })
		}
	}
	cuts, err := balance(uint64(meta.Docs), shards, stored)
	if err != nil {
		return nil, err
	}
	o := &Output{meta: meta, m: newMap(name(filepath.Clean(dir)), layout.Index, cuts)}
	if o.folder, err = openFolder(dir, force); err != nil {
		return nil, err
	}
	if o.pass, err = newPass(o.folder, meta, cuts, 0, shards); err != nil {
		return nil, errors.Join(err, o.folder.close())
	}
	return o, nil
}

// AddDocument implements build.Output.
func (o *Output) AddDocument(name string, lengths ...uint32) error {
	for _, n := range lengths {
		o.length += uint64(n)
	}
	return o.pass.AddDocument(name, lengths...)
}

// AddStored implements build.Output.
func (o *Output) AddStored(document []byte) error { return o.pass.AddStored(document) }

// AddList implements build.Output.
func (o *Output) AddList(term string, docs, freqs []uint32) error {
	for _, f := range freqs {
		o.tokens += uint64(f)
	}
	return o.pass.AddList(term, docs, freqs)
}

// AddPositions implements build.Output.
func (o *Output) AddPositions(values []uint32) error { return o.pass.AddPositions(values) }

// Commit writes the manifest.
func (o *Output) Commit() error {
	if err := o.pass.commit(); err != nil {
		return errors.Join(err, o.Abort())
	}
	o.m.WithTerms = o.pass.withTerms()
	if o.m.Length = o.length; o.meta.Lengths == hdl.LengthsLucene && o.meta.Impacts.Bits == 0 {
		o.m.Length = max(o.length, o.tokens) // as hdl.LengthsLucene says
	}
	return errors.Join(o.folder.publish(o.m, ".hdl"), o.folder.close())
}

// Abort removes all that was written.
func (o *Output) Abort() error { return errors.Join(o.pass.abort(), o.folder.close()) }

// Map is the manifest. It is complete after Commit.
func (o *Output) Map() *layout.Map { return o.m }

var _ build.Output = (*Output)(nil)
