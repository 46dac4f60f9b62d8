package engine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sync"

	"github.com/rs/zerolog"

	"heddle/engine/collection"
	"heddle/engine/failure"
	indexes "heddle/engine/index"
	"heddle/engine/index/build"
)

// Document is a document of an index or a collection.
type Document = indexes.Document

// Change describes a change of a collection, and its state afterwards.
type Change struct {
	CollectionInfo
	Added    uint64 // documents of the change
	Replaced uint64 // documents whose name a later document has
	Deleted  uint64
	Missing  uint64 // names to delete that no document had
}

// changes are the changes of a collection by this process.
type changes struct {
	opt CollectionOptions
	log zerolog.Logger

	change sync.Mutex         // one change at a time; merges run beside them
	writer *collection.Writer // nil before the first change; guarded by change
	merges sync.WaitGroup     // merges by writer; Add is guarded by change

	mu      sync.Mutex
	merging int  // merges in the background
	again   bool // a further merge follows
}

// Add adds documents, or replaces documents of the same names: all or none. It takes them as they come, in bounded
// memory. Small segments are joined in the background. Errors: code InvalidOption for documents that the collection
// cannot take, Closed if another process changes the collection, DiskFull.
func (c *Collection) Add(ctx context.Context, docs iter.Seq[Document]) (Change, error) {
	return stream(docs, Document.MarshalJSON, func(lines io.Reader) (Change, error) { return c.AddLines(ctx, lines) })
}

// Update changes documents whose sources the collection stores: the members of each document replace the members of
// the stored document, null removes one, and objects are changed member by member (RFC 7396). An empty Text leaves the
// text. Change.Missing counts the names that no document has. All or none are changed. Errors: the errors of Add, and
// code Unsupported without stored sources.
func (c *Collection) Update(ctx context.Context, docs iter.Seq[Document]) (Change, error) {
	return stream(docs, indexes.Patch, func(lines io.Reader) (Change, error) { return c.UpdateLines(ctx, lines) })
}

// stream passes documents as lines of JSON, as they come.
func stream(docs iter.Seq[Document], form func(Document) ([]byte, error), pass func(lines io.Reader) (Change, error)) (Change, error) {
	in, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		to := bufio.NewWriterSize(out, 1<<16)
		var err error
		for d := range docs {
			var line []byte
			if line, err = form(d); err != nil {
				err = fmt.Errorf("%w: document %q: %w", collection.ErrDocuments, d.Name, err)
				break
			}
			if _, err = to.Write(append(line, '\n')); err != nil {
				break
			}
		}
		out.CloseWithError(errors.Join(err, to.Flush()))
	}()
	done, err := pass(in)
	in.CloseWithError(io.ErrClosedPipe)
	<-ended
	return done, err
}

// AddLines is Add of documents in JSON lines.
func (c *Collection) AddLines(ctx context.Context, lines io.Reader) (Change, error) {
	return c.do(ctx, "add documents", func(w *collection.Writer, done *Change) error {
		return addLines(ctx, w, lines, done)
	})
}

func addLines(ctx context.Context, w *collection.Writer, lines io.Reader, done *Change) error {
	opt := build.DefaultOptions()
	opt.Format, opt.Stdin = build.JSONL, lines
	added, err := w.Add(ctx, []string{"-"}, opt)
	done.Added, done.Replaced = added.Documents, added.Replaced
	return err
}

// UpdateLines is Update of changes in JSON lines.
func (c *Collection) UpdateLines(ctx context.Context, lines io.Reader) (Change, error) {
	return c.do(ctx, "update documents", func(w *collection.Writer, done *Change) error {
		in, out := io.Pipe()
		patched := make(chan error, 1)
		go func() {
			var err error
			done.Missing, err = w.Patch(lines, out)
			out.CloseWithError(err)
			patched <- err
		}()
		err := addLines(ctx, w, in, done)
		in.CloseWithError(io.ErrClosedPipe)
		if wrong := <-patched; wrong != nil && !errors.Is(wrong, io.ErrClosedPipe) {
			return wrong
		}
		return err
	})
}

// Delete deletes documents by their names. A name that no document has is no error.
func (c *Collection) Delete(ctx context.Context, names ...string) (Change, error) {
	return c.do(ctx, "delete documents", func(w *collection.Writer, done *Change) error {
		return remove(ctx, w, names, done)
	})
}

// DeleteMatches deletes the documents that a query matches, such as the documents of a filter:
// Query{Filter: &Filter{Where: "year < 2001"}}. K must be 0.
func (c *Collection) DeleteMatches(ctx context.Context, q Query) (Change, error) {
	const op = "delete documents"
	if q.K != 0 || q.CountOnly || q.Text == "" && len(q.Terms) == 0 && q.Filter == nil {
		return Change{}, failure.Invalid(op, errors.New("the query has a K, asks for a number, or has neither terms nor a filter"))
	}
	q.Names = true
	return c.do(ctx, op, func(w *collection.Writer, done *Change) error {
		hits, err := c.Search(ctx, q)
		if err != nil {
			return err
		}
		return remove(ctx, w, hits.Names, done)
	})
}

func remove(ctx context.Context, w *collection.Writer, names []string, done *Change) error {
	r, err := w.Delete(ctx, func(yield func(string, error) bool) {
		for _, n := range names {
			if !yield(n, nil) {
				return
			}
		}
	})
	done.Deleted, done.Missing = r.Deleted, r.Missing
	return err
}

// do runs a change and opens its state for queries.
func (c *Collection) do(ctx context.Context, op string, change func(*collection.Writer, *Change) error) (done Change, err error) {
	c.change.Lock()
	defer c.change.Unlock()
	w, err := c.writerOf()
	if err == nil {
		if err = change(w, &done); err != nil && !refused(err) { // the state on the disk may be unknown
			err = errors.Join(err, c.release())
		}
	}
	if err != nil {
		return Change{}, changeError(op, err)
	}
	if done.CollectionInfo, err = c.Refresh(ctx); err == nil && done.Segments > 1 {
		c.maintain(w)
	}
	return done, err
}

// changeError is the error of a change with its code.
func changeError(op string, err error) error {
	e, known := errors.AsType[*Error](err)
	code := failure.CodeOf(err)
	switch {
	case errors.Is(err, collection.ErrSource):
		code = Unsupported
	case refused(err), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrInvalid):
		code = InvalidOption
	case errors.Is(err, collection.ErrLocked):
		code = Closed
	case known && e.Code == code:
		return err
	}
	return &Error{Code: code, Op: op, Err: err}
}

// writerOf returns the writer. It is called with the lock change.
func (c *Collection) writerOf() (w *collection.Writer, err error) {
	if c.writer == nil {
		c.writer, err = collection.Open(c.Internal().Dir(), collection.Options{Creator: c.opt.Creator, Memory: c.opt.MergeMemory})
	}
	return c.writer, err
}

// release closes the writer after its merges. It is called with the lock change.
func (c *changes) release() error {
	c.merges.Wait()
	if c.writer == nil {
		return nil
	}
	w := c.writer
	c.writer = nil
	return w.Close()
}

// Merge joins all segments to one without deleted documents. Documents can be added and deleted meanwhile.
func (c *Collection) Merge(ctx context.Context) (CollectionInfo, error) {
	c.change.Lock()
	w, err := c.writerOf()
	if err == nil {
		c.merges.Add(1)
	}
	c.change.Unlock()
	if err == nil {
		defer c.merges.Done()
		err = w.Merge(ctx)
	}
	if err != nil {
		return CollectionInfo{}, changeError("merge", err)
	}
	return c.Refresh(ctx)
}

// mostMerges is the number of merges in the background, so that small segments are joined while large ones are.
const mostMerges = 2

// maintain joins small segments in the background. It is called with the lock change.
func (c *Collection) maintain(w *collection.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.merging == mostMerges {
		c.again = true
		return
	}
	c.merging++
	c.merges.Go(func() {
		for more := true; more; {
			err := w.Maintain(context.Background())
			if err == nil {
				_, err = c.Refresh(context.Background())
			}
			if err != nil {
				c.log.Error().Err(err).Str("collection", c.Internal().Name()).Msg("segments could not be joined")
			}
			c.mu.Lock()
			more = c.again && err == nil
			if c.again = false; !more {
				c.merging--
			}
			c.mu.Unlock()
		}
	})
}

// Verify reads all files of the newest state: sizes, checksums and contents. The error names each damaged
// file, with code Corrupt.
func (c *Collection) Verify(ctx context.Context) error {
	_, err := collection.Verify(ctx, c.Internal().Dir())
	return failure.Wrap("verify collection", err)
}

// Backup copies the newest state to another folder, which is new, empty or an earlier backup of the collection, and not
// below it (else code InvalidOption): it writes only the files that the backup lacks, and compares their checksums. On the same file system files become hard
// links. Changes can go on meanwhile. The backup is a collection, and heddle collection restore makes a copy of it.
func (c *Collection) Backup(ctx context.Context, to string) (Backup, error) {
	done, err := collection.Backup(ctx, c.Internal().Dir(), to, collection.CopyOptions{})
	if err != nil {
		return done, changeError("backup", err)
	}
	return done, nil
}

// Backup describes a backup of a collection.
type Backup = collection.Copied

// Close waits for running changes and merges, lets other processes change the collection, and closes its
// segments. Queries that run get errors.
func (c *Collection) Close() error {
	c.change.Lock()
	defer c.change.Unlock()
	return failure.Wrap("close collection", errors.Join(c.release(), c.Internal().Close()))
}
