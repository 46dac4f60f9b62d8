package containertest

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/engine/file/container"
)

// Power is a disk whose power fails behind each operation. A power cut keeps the bytes that a Sync of the
// file has fixed, and the names that a SyncDir of the folder has fixed. Of the others it keeps none, all, or
// all but one. Power keeps a journal, writes each state that a cut can leave to a folder, and lets check open it.
// The disk itself goes on: one run of a change has all cuts.
//
// Folders and files that come by other ways than the disk, such as temporary ones, are lost.
type Power struct {
	container.OSDisk
	// Fail is the number, from 1, of the Sync or SyncDir that fails. A file of a failed Sync stays as it
	// was before for ever, though later calls succeed, as on Linux. Default: 0, none.
	Fail int
	// Quiet leaves out the cuts, as do operations before the failure of Fail.
	Quiet bool

	t     testing.TB
	root  string
	check func(dir string)
	cuts  string // folder of the states
	syncs int
	seen  map[uint64]bool
	seed  maphash.Seed

	now, fixed map[string]*inode // by path below root
	names      []nameChange      // since the SyncDir of their folders
}

// inode is a file or a folder.
type inode struct {
	folder     bool
	lost       bool // a Sync has failed
	now, fixed []byte
}

// nameChange is a change of names that waits for the SyncDir of a folder. The SyncDir of the folder that a
// file leaves fixes that it is no longer there.
type nameChange struct {
	dir   string
	left  string // former path of a renamed file
	apply func(names map[string]*inode)
}

// NewPower returns a disk for the files below the folder root, which are all fixed.
func NewPower(t testing.TB, root string, check func(dir string)) *Power {
	p := &Power{t: t, root: root, check: check, cuts: t.TempDir(), seen: map[uint64]bool{}, seed: maphash.MakeSeed(), now: map[string]*inode{}}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		x := &inode{folder: e.IsDir()}
		if !x.folder {
			x.now, err = os.ReadFile(path)
			x.fixed = x.now
		}
		p.now[p.below(path)] = x
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p.fixed = maps.Clone(p.now)
	return p
}

// below returns a path below root.
func (p *Power) below(path string) string {
	rel, err := filepath.Rel(p.root, path)
	if err != nil || strings.HasPrefix(rel, "..") {
		p.t.Fatalf("%s is not below %s", path, p.root)
	}
	return rel
}

// change changes names, fixed by the SyncDir of the folder of path.
func (p *Power) change(path, left string, apply func(names map[string]*inode)) {
	apply(p.now)
	p.names = append(p.names, nameChange{filepath.Dir(path), left, apply})
	p.cut()
}

// Renewed forgets the states that check has seen, and checks the present ones.
func (p *Power) Renewed() {
	clear(p.seen)
	p.Quiet = false
	p.cut()
}

// cut checks the states that a power cut leaves now.
func (p *Power) cut() {
	if p.Quiet || p.syncs < p.Fail {
		return
	}
	fixed := func(x *inode) []byte { return x.fixed }
	torn := func(x *inode) []byte { // a part of the bytes; zeros for the rest
		b := bytes.Clone(x.now)
		if bytes.Equal(x.now, x.fixed) {
			return b
		}
		if clear(b[len(b)/2:]); x.lost {
			return x.fixed
		}
		return b
	}
	p.state(p.fixed, fixed)
	p.state(p.without(-1), fixed)
	for i := -1; i < len(p.names); i++ {
		p.state(p.without(i), torn)
	}
}

// without returns the names with all changes but change i.
func (p *Power) without(i int) map[string]*inode {
	names := maps.Clone(p.fixed)
	for n, c := range p.names {
		if n != i {
			c.apply(names)
		}
	}
	return names
}

// temporary matches the end of the name of a temporary folder. States that differ in such names, or in the
// bytes of files in such a folder, are one state.
var temporary = regexp.MustCompile(`\.tmp\d+`)

// state checks a state, once.
func (p *Power) state(names map[string]*inode, content func(*inode) []byte) {
	p.t.Helper()
	left := map[string]*inode{}
	var h maphash.Hash
	h.SetSeed(p.seed)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		dir := filepath.Dir(name)
		if parent := left[dir]; dir != "." && (parent == nil || !parent.folder) {
			continue // its folder is lost
		}
		x := names[name]
		left[name] = x
		h.WriteString(temporary.ReplaceAllString(name, ".tmp") + "\x00")
		if !temporary.MatchString(dir) {
			h.Write(content(x))
		}
	}
	if p.seen[h.Sum64()] {
		return
	}
	p.seen[h.Sum64()] = true
	dir := filepath.Join(p.cuts, "state")
	err := os.RemoveAll(dir)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		switch x := left[name]; {
		case err != nil:
		case x.folder:
			err = os.Mkdir(filepath.Join(dir, name), 0o700)
		default:
			err = os.WriteFile(filepath.Join(dir, name), content(x), 0o600)
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.check(dir)
}

// sync reports whether a Sync or SyncDir fails.
func (p *Power) sync() error {
	if p.syncs++; p.syncs == p.Fail {
		return ErrFault
	}
	return nil
}

// Syncs is the number of calls of Sync and SyncDir.
func (p *Power) Syncs() int { return p.syncs }

func (p *Power) MkdirTemp(path string) (string, error) {
	dir, err := p.OSDisk.MkdirTemp(path)
	if err == nil {
		p.made(dir, &inode{folder: true})
	}
	return dir, err
}

func (p *Power) Mkdir(path string) error {
	err := p.OSDisk.Mkdir(path)
	if err == nil {
		p.made(path, &inode{folder: true})
	}
	return err
}

func (p *Power) made(path string, x *inode) {
	p.change(p.below(path), "", func(names map[string]*inode) { names[p.below(path)] = x })
}

func (p *Power) Create(path string) (container.DiskFile, error) {
	f, err := p.OSDisk.Create(path)
	if err != nil {
		return nil, err
	}
	x := new(inode)
	p.made(path, x)
	return &powered{f, p, x, 0}, nil
}

func (p *Power) Rename(from, to string) error {
	if err := p.OSDisk.Rename(from, to); err != nil {
		return err
	}
	from, to = p.below(from), p.below(to)
	x := p.now[from]
	p.change(to, from, func(names map[string]*inode) {
		if names[from] == x {
			delete(names, from)
		}
		names[to] = x
	})
	return nil
}

func (p *Power) RemoveAll(path string) error {
	if err := p.OSDisk.RemoveAll(path); err != nil {
		return err
	}
	path = p.below(path)
	p.change(path, "", func(names map[string]*inode) {
		maps.DeleteFunc(names, func(name string, _ *inode) bool {
			return name == path || strings.HasPrefix(name, path+string(filepath.Separator))
		})
	})
	return nil
}

func (p *Power) SyncDir(dir string) error {
	if err := p.sync(); err != nil {
		return err
	}
	dir = p.below(dir)
	p.names = slices.DeleteFunc(p.names, func(c nameChange) bool {
		switch {
		case c.dir == dir:
			c.apply(p.fixed)
		case c.left != "" && filepath.Dir(c.left) == dir:
			delete(p.fixed, c.left)
		}
		return c.dir == dir
	})
	p.cut()
	return nil
}

// powered is an open file of Power.
type powered struct {
	container.DiskFile
	disk *Power
	*inode
	at int
}

func (f *powered) Write(b []byte) (int, error) {
	n, err := f.DiskFile.Write(b)
	end := f.at + n
	f.now = append(bytes.Clone(f.now), make([]byte, max(0, end-len(f.now)))...)
	f.at += copy(f.now[f.at:], b[:n])
	f.disk.cut()
	return n, err
}

func (f *powered) Read(b []byte) (int, error) {
	n, err := f.DiskFile.Read(b)
	f.at += n
	return n, err
}

func (f *powered) Seek(offset int64, whence int) (int64, error) {
	at, err := f.DiskFile.Seek(offset, whence)
	f.at = int(at)
	return at, err
}

func (f *powered) Sync() error {
	if err := f.disk.sync(); err != nil {
		f.lost = true
		return err
	}
	if !f.lost {
		f.fixed = bytes.Clone(f.now)
	}
	f.disk.cut()
	return nil
}

var _ io.ReadWriteSeeker = (*powered)(nil)

// PowerCuts cuts the power behind each operation while write replaces the file at path: its folder has the
// old file or the new one, and the new one when write has succeeded. Then each Sync and SyncDir fails
// once, and a second write succeeds.
func PowerCuts(t testing.TB, path string, write func(d container.Disk, path string) error) {
	t.Helper()
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal("behind a power cut: ", err)
		}
		return data
	}
	old, other := read(path), filepath.Join(t.TempDir(), filepath.Base(path))
	if err := write(container.OSDisk{}, other); err != nil {
		t.Fatal(err)
	}
	want := read(other)
	for fail := 0; ; fail++ {
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		done := false
		p := NewPower(t, filepath.Dir(path), func(dir string) {
			if got := read(filepath.Join(dir, filepath.Base(path))); !bytes.Equal(got, want) && (done || !bytes.Equal(got, old)) {
				t.Fatalf("behind a power cut, sync %d failed, written %v: another file of %d bytes", fail, done, len(got))
			}
		})
		p.Fail = fail
		err := write(p, path)
		if fail > p.Syncs() {
			return
		}
		if fail > 0 {
			if !errors.Is(err, ErrFault) {
				t.Fatalf("sync %d failed, the error is %v", fail, err)
			}
			err = write(p, path)
		}
		if done = true; err != nil {
			t.Fatal(err)
		}
		p.Renewed()
	}
}
