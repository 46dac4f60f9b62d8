package collection

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"heddle/engine/collection/keys"
	"heddle/engine/file/auxiliary"
	"heddle/engine/file/container"
	"heddle/engine/file/input"
	"heddle/engine/index/hdl"
	"heddle/engine/internal/layout"
	"heddle/engine/syntax/pattern"
)

// ErrLocked is the error of a second writer.
var ErrLocked = errors.New("another process changes the collection")

// lockName is the name of the file whose lock a writer holds.
const lockName = "lock"

// Writer changes a collection. It is safe for concurrent use: documents can be added, and other segments be merged, while
// a merge runs.
type Writer struct {
	dir  string
	disk container.Disk
	opt  Options
	lock *os.File

	mu       sync.Mutex
	merged   sync.Cond // of mu: a merge has ended
	now      *Manifest
	segments []*segment      // the present segments
	before   map[string]bool // files of the manifest before now
	next     uint64          // number of the next file
	written  uint64          // documents in the files of this writer
	err      error           // error of a change after which the state on the disk is unknown
}

// Options rule the changes of a Writer.
type Options struct {
	// Creator is the name and version of the program, for the files.
	Creator string
	// Memory bounds the attributes that a merge has in memory, in bytes. Attributes beyond it wait in
	// temporary files. A merge takes up to 32 bytes for each document on top.
	// Default: build.DefaultMemory of package table/build.
	Memory uint64
	// InvalidValues is the treatment of values that their attribute cannot hold: input.Replace leaves
	// them out, and Added.Warnings tells their number. Default: input.Fail.
	InvalidValues input.Invalid
}

// Open opens a collection for changes. A second writer gets ErrLocked.
func Open(dir string, opt Options) (*Writer, error) { return openOn(container.OSDisk{}, dir, opt) }

func openOn(d container.Disk, dir string, opt Options) (w *Writer, err error) {
	// A folder that is no collection gets no file.
	if _, err := os.Stat(filepath.Join(dir, layout.ManifestName)); err != nil {
		return nil, missing(dir, err)
	}
	f, err := take(dir)
	if err != nil {
		return nil, err
	}
	w = &Writer{dir: dir, disk: d, opt: opt, lock: f}
	w.merged.L = &w.mu
	defer func() {
		if err != nil {
			w, err = nil, errors.Join(err, f.Close())
		}
	}()
	if w.now, err = Read(dir); err != nil {
		return w, err
	}
	for _, s := range w.now.Segments {
		w.segments = append(w.segments, &segment{Segment: s, dir: dir})
	}
	w.before = w.now.files()
	w.next = max(w.now.Next, w.now.Epoch+1)
	for name := range w.before {
		w.next = max(w.next, numberOf(name)+1)
	}
	// The writer before may have ended between the rename of the manifest and its sync: the files that
	// the former manifest names go only when this manifest is sure to stay.
	if err = d.SyncDir(dir); err != nil {
		return w, err
	}
	return w, w.clean()
}

// take takes the lock of a collection.
func take(dir string) (*os.File, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not the folder of a collection", dir)
	}
	f, err := auxiliary.Lock(filepath.Join(dir, lockName))
	if errors.Is(err, auxiliary.ErrLocked) {
		err = fmt.Errorf("%s: %w", dir, ErrLocked)
	}
	return f, err
}

// Close ends the changes. It must not run beside other calls.
func (w *Writer) Close() error {
	var errs []error
	for _, s := range w.segments {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, w.lock.Close())...)
}

// Manifest is the present state. It must not be changed.
func (w *Writer) Manifest() *Manifest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// own matches the names of the files of a collection, and the names of their temporary files.
var own = pattern.New(`^(\d{8,}\.hd[lkb](\.cost)?|\d{8,}-\d{8,}\.roaring|manifest\.json)(\.tmp\d+)?$|^\.heddle-build-`)

// cost ends the name of the cost models of an index, which heddle calibrate writes.
const cost = ".cost"

// numberOf returns the number at the start of the name of a file; 0 for other names.
func numberOf(name string) uint64 {
	digits := regexp.MustCompile(`\d+`).FindAllString(name, 2)
	if digits == nil {
		return 0
	}
	n, _ := strconv.ParseUint(digits[len(digits)-1], 10, 64) // the number of a change comes last
	return n
}

// clean removes the files that a writer before this one has left: all files of the collection that
// the manifest does not name.
func (w *Writer) clean() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	left := map[string]bool{}
	for _, e := range entries {
		if name := e.Name(); own().MatchString(name) && name != layout.ManifestName {
			left[name] = true
		}
	}
	w.remove(left)
	return nil
}

// remove removes the files that neither the manifest nor the manifest before it names. A file that
// cannot be removed now, such as an open one on Windows, is left to the next writer.
func (w *Writer) remove(files map[string]bool) {
	now := w.now.files()
	for name := range files {
		of := strings.TrimSuffix(name, cost) // costs go with their index
		if now[of] || w.before[of] {
			continue
		}
		_ = w.disk.RemoveAll(filepath.Join(w.dir, name))
		if strings.HasSuffix(of, ".hdl") {
			_ = os.Remove(filepath.Join(w.dir, of+cost))
		}
	}
}

// number returns the number of the next file.
func (w *Writer) number() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	return w.next - 1
}

// seal describes the index file with a number, writes its keys, and returns the segment without its
// place. The documents with the name of a later one are deleted.
func (w *Writer) seal(number uint64) (s *segment, err error) {
	s = &segment{dir: w.dir}
	s.File, s.Keys.File = fmt.Sprintf("%08d.hdl", number), fmt.Sprintf("%08d.hdk", number)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	path := filepath.Join(w.dir, s.File)
	if s.index, err = hdl.Open(path); err != nil {
		return s, err
	}
	s.Docs, s.Length = uint64(s.index.Docs()), s.index.Meta().Length
	if s.SHA256, s.Bytes, err = layout.Checksum(path); err != nil {
		return s, err
	}
	path = filepath.Join(w.dir, s.Keys.File)
	if w.Manifest().Settings.Attributes != nil {
		f, err := layout.Describe(w.attributesPath(number), fmt.Sprintf("%08d.hdb", number))
		if s.Attributes = &f; err != nil {
			return s, err
		}
	}
	earlier, err := keys.Write(w.disk, path, s.index)
	if err != nil {
		return s, err
	}
	s.deleted = roaring.BitmapOf(earlier...)
	s.Keys.SHA256, s.Keys.Bytes, err = layout.Checksum(path)
	return s, err
}

// change replaces the segments, some of which get other bitmaps of deleted documents. It is called
// with the lock. The files of new segments exist. After an error the caller may remove them, unless
// w.err is set.
func (w *Writer) change(segments []*segment, deleted map[*segment]*roaring.Bitmap) error {
	if w.err != nil {
		return w.err
	}
	number := w.next
	w.next++
	now := *w.now
	now.Epoch++
	now.Next = w.next
	now.Backup = false
	now.Segments = nil
	for _, s := range segments {
		next := s.Segment
		if b := deleted[s]; b != nil && !b.IsEmpty() {
			var err error
			if next.Deleted, err = writeDeleted(w.disk, w.dir, fmt.Sprintf("%08d-%08d.roaring", numberOf(s.File), number), b); err != nil {
				return err
			}
		}
		now.Segments = append(now.Segments, next)
	}
	now.total()
	if err := now.write(w.disk, w.dir); err != nil {
		w.err = fmt.Errorf("the last change may be in place, so the collection must be opened again: %w", err)
		return err
	}
	for i, s := range segments {
		if s.Segment = now.Segments[i]; deleted[s] != nil {
			s.deleted = deleted[s]
		}
	}
	for _, s := range w.segments {
		if !slices.Contains(segments, s) {
			_ = s.close() // the change is complete
		}
	}
	stale := w.before
	w.before, w.now, w.segments = w.now.files(), &now, segments
	w.remove(stale) // no other files: an addition or a merge beside this change has files, too
	return nil
}

// discard removes the files of a segment that no manifest has. After a change of unknown state they
// are left to the next writer.
func (w *Writer) discard(number uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil
	}
	var errs []error
	for _, suffix := range []string{"hdl", "hdk", "hdb"} {
		errs = append(errs, w.disk.RemoveAll(filepath.Join(w.dir, fmt.Sprintf("%08d.%s", number, suffix))))
	}
	return errors.Join(errs...)
}
