// Package keys finds documents by their names. A file .hdk belongs to an index file: it has the
// hashes of all names in ascending order, each with its document.
//
// # Format
//
// The frame is the container of package container, version 1, with the magic "\x89HDK\r\n\x1a\n".
//
//	header field   u64  number of documents
//	section keys   n x u64, ascending: the upper 32 bits of the xxHash64 of a name, then its
//	               document, 32 bits
//	section sums   u32 CRC-32C of each block of 64 KiB of section keys
//
// A lookup reads a few blocks, whatever the size of the file, and compares the names of the
// documents that it finds with the name that is asked for.
package keys

import (
	"encoding/binary"
	"errors"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"

	"heddle/engine/file/container"
	"heddle/engine/file/mapped"
	"heddle/engine/index/hdl"
)

const (
	secKeys = iota
	secSums
)

var format = container.Format{Magic: "\x89HDK\r\n\x1a\n", Suffix: ".hdk", Version: 1, Names: []string{"keys", "sums"}, Sums: secSums}

// hash is the part of a key that depends on the name.
func hash(name string) uint64 { return xxhash.Sum64String(name) &^ (1<<32 - 1) }

// Write writes the keys of an index to a file. It returns the documents with the name of a later
// document, ascending. Memory is 8 bytes per document.
func Write(d container.Disk, path string, f *hdl.File) (earlier []uint32, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	keys := make([]uint64, 0, f.Docs())
	for d, name := range f.Names(0) {
		keys = append(keys, hash(name)|uint64(d))
	}
	slices.Sort(keys)
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to]>>32 == keys[from]>>32 {
			to++
		}
		if to > from+1 {
			last := map[string]uint32{}
			for i := to - 1; i >= from; i-- {
				doc := uint32(keys[i])
				name, err := f.DocName(doc)
				if err != nil {
					return nil, err
				}
				if last[name] > 0 {
					earlier = append(earlier, doc)
				} else {
					last[name] = 1
				}
			}
		}
		from = to
	}
	slices.Sort(earlier)
	w, err := container.Create(d, path, &format)
	if err != nil {
		return nil, err
	}
	return earlier, errors.Join(w.Do(func() error { return w.Sections[secKeys].Append(container.LittleBytes(keys)) }),
		w.Commit(func() (f container.Fields, err error) {
			binary.LittleEndian.PutUint64(f[:], uint64(len(keys)))
			return f, nil
		}))
}

// Keys is an open file. It is safe for concurrent use, except for Close.
type Keys struct {
	file *container.File
	name func(doc uint32) (string, error)
	keys []uint64
}

// Open opens the keys of an index with a number of documents. Lookups call name for the names of
// documents. Damage is a container.CorruptError.
func Open(path string, docs uint64, name func(doc uint32) (string, error)) (*Keys, error) {
	file, err := container.Open(path, &format)
	if err != nil {
		return nil, err
	}
	k, err := read(file, docs, name)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return k, nil
}

// read reads an open file.
func read(file *container.File, docs uint64, name func(doc uint32) (string, error)) (*Keys, error) {
	k := &Keys{file: file, name: name, keys: container.View[uint64](file.Bytes(secKeys))}
	if stored := binary.LittleEndian.Uint64(file.Header.Fields[:]); stored != docs {
		return nil, file.CorruptHeader(container.FieldsOffset, "%d documents, the index has %d", stored, docs)
	}
	if length := uint64(len(file.Bytes(secKeys))); length%8 != 0 || length/8 != docs {
		return nil, file.CorruptEntry(secKeys, "has %d bytes for %d documents", length, docs)
	}
	return k, nil
}

// Close unmaps the file.
func (k *Keys) Close() error {
	k.keys = nil
	return k.file.Close()
}

// Find returns the last document with a name. Damage that shows at the first use of a block is a
// container.CorruptError.
func (k *Keys) Find(name string) (doc uint32, found bool, err error) {
	defer mapped.Catch(mapped.Watch(), &err)
	want := hash(name)
	at := sort.Search(len(k.keys), func(i int) bool {
		return err != nil || k.key(i, &err) >= want
	})
	for ; err == nil && at < len(k.keys); at++ {
		key := k.key(at, &err)
		if err != nil || key>>32 != want>>32 {
			break
		}
		d := uint32(key)
		if int(d) >= len(k.keys) {
			return 0, false, k.file.Corrupt(secKeys, 8*uint64(at), "document %d of %d", d, len(k.keys))
		}
		other, err := k.name(d)
		if err != nil {
			return 0, false, err
		}
		if other == name {
			doc, found = d, true
		}
	}
	return doc, found, err
}

// key returns key i after the check of its block.
func (k *Keys) key(i int, err *error) uint64 {
	at := 8 * uint64(i)
	*err = k.file.Check(secKeys, at, at+8)
	return k.keys[i]
}
