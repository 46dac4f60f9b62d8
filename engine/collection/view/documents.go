package view

import (
	"context"
	"errors"

	"heddle/engine"
	"heddle/engine/index/build/records"
	"heddle/engine/internal/layout"
)

// Documents is the documents of a state, for their texts. Close ends its use.
type Documents struct {
	layout    *layout.Map
	segments  []*engine.Snapshot
	releasing []func()
}

// Documents returns the documents of the newest state.
func (s *Set) Documents(ctx context.Context, name string) (*Documents, error) {
	m, err := s.Map(ctx, name)
	if err != nil {
		return nil, err
	}
	d := &Documents{layout: m}
	for i := range m.Shards {
		f, _, release, err := s.use(name, m.Epoch, i)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.releasing = append(d.releasing, release)
		now, err := f.index.Snapshot()
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.segments = append(d.segments, now)
	}
	return d, nil
}

// Close ends the use.
func (d *Documents) Close() error {
	var errs []error
	for _, x := range d.segments {
		errs = append(errs, x.Close())
	}
	for _, release := range d.releasing {
		release()
	}
	return errors.Join(errs...)
}

// Segments returns the contents of all segments, in their order.
func (d *Documents) Segments() []*engine.Snapshot { return d.segments }

// Text returns the text of a document, whose number must be one of the state.
func (d *Documents) Text(id uint64) (string, error) {
	i := d.layout.Find(id)
	return records.TextOf(d.segments[i].File(), uint32(id-d.layout.Shards[i].First))
}
