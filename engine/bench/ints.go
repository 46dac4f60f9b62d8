package bench

import (
	"context"
	"fmt"

	"heddle/codec"
)

// evenLists are lists of one length with gaps of 1 to 256, 8 bits each.
type evenLists struct {
	count, length int
}

func (d evenLists) String() string {
	return fmt.Sprintf("%d lists of %d, gaps of 8 bits", d.count, d.length)
}

// draw makes them from a seed.
func (d evenLists) draw(ctx context.Context, seed uint64) ([][]uint32, error) {
	lists := make([][]uint32, d.count)
	all := make([]uint32, d.count*d.length)
	return lists, parallel(ctx, d.count, func(_ *scratch, h int) error {
		r := newRandom(seed, streamGaps, uint64(h))
		docs := all[h*d.length : (h+1)*d.length : (h+1)*d.length]
		doc := uint32(0)
		for i := range docs {
			doc += 1 + uint32(r.below(256))
			docs[i] = doc
		}
		lists[h] = docs
		return nil
	})
}

// intsExhibit is decoding at 8 bits, of long lists and of many short ones.
func intsExhibit() exhibit {
	return exhibit{
		name: "ints", title: "Decoding to docIDs at 8 bits a gap, written out",
		ours: "Of peak: the words read and the docIDs written, of the measured copy bandwidth. A device decodes all lists in one launch, by its own clock; pure Go on all threads.",
		rows: "codec",
		run: func(ctx context.Context, s *session) error {
			works := []evenLists{{64, 1 << 20}, {100_000, 1000}}
			if s.opt.Short {
				works = []evenLists{{8, 1 << 17}, {1000, 1000}}
			}
			for _, work := range works {
				lists, err := work.draw(ctx, s.opt.Seed)
				if err != nil {
					return err
				}
				for _, who := range s.contestants {
					for _, id := range s.opt.Codecs {
						if !who.decodes(id) {
							continue
						}
						d, err := s.decode(ctx, who, s.opt.Threads, id, codec.DefaultOptions(), lists)
						if err != nil {
							return err
						}
						if err := s.put(who.on(reading{panel: work.String(), series: who.String(), at: id.String(), Row: d.into(Row{Row: id.String()})})); err != nil {
							return err
						}
					}
				}
			}
			return nil
		},
	}
}
