package segments

import (
	"context"
	"fmt"

	"heddle/engine/internal/layout"
	"heddle/engine/internal/part"
)

// State is one state of a collection, whatever changes follow. It implements coordinator.Maps and coordinator.Parts.
type State struct {
	Layout *layout.Map
	// Segments are the parts, in the order of their documents.
	Segments  []*part.Part
	releasing []func()
}

// Pin returns the newest state. Close ends its use.
func (c *Collection) Pin() (*State, error) {
	m, err := c.Map(context.Background(), c.name)
	if err != nil {
		return nil, err
	}
	s := &State{Layout: m}
	for i := range m.Shards {
		p, release, err := c.Part(c.name, m.Epoch, i)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.Segments, s.releasing = append(s.Segments, p), append(s.releasing, release)
	}
	return s, nil
}

// Close ends the use.
func (s *State) Close() {
	for _, release := range s.releasing {
		release()
	}
}

// Find returns the segment of a document, and its number there. The document must be one of the state.
func (s *State) Find(id uint64) (segment int, doc uint32) {
	i := s.Layout.Find(id)
	return i, uint32(id - s.Layout.Shards[i].First)
}

// Part implements coordinator.Parts. The state keeps its parts until Close.
func (s *State) Part(name string, epoch uint64, number int) (*part.Part, func(), error) {
	if epoch != s.Layout.Epoch || number >= len(s.Segments) {
		return nil, nil, fmt.Errorf("segment %d of %s, state %d: %w", number, name, epoch, part.ErrEpoch)
	}
	return s.Segments[number], func() {}, nil
}

// Map implements coordinator.Maps.
func (s *State) Map(_ context.Context, name string) (*layout.Map, error) {
	if name != s.Layout.Name {
		return nil, Missing(name)
	}
	return s.Layout, nil
}

// Refresh implements coordinator.Maps.
func (s *State) Refresh(ctx context.Context, name string) (*layout.Map, error) {
	return s.Map(ctx, name)
}

// Names implements coordinator.Maps.
func (s *State) Names(context.Context) ([]string, error) { return []string{s.Layout.Name}, nil }
