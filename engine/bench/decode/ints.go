package decode

import (
	"context"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// intsExhibit decodes at 8 bits per gap, long lists and many short ones.
func (s *bench) intsExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "ints", Title: "Decoding to docIDs at 8 bits a gap, written out",
		Ours: "Of peak: the words read and the docIDs written, of the measured copy bandwidth. A device decodes all lists in one launch, by its own clock; pure Go on all threads.",
		Rows: "codec",
		Run: func(ctx context.Context) error {
			for _, work := range harness.Pick(&s.Opt, []workload.EvenLists{{Count: 64, Length: 1 << 20}, {Count: 100_000, Length: 1000}},
				[]workload.EvenLists{{Count: 8, Length: 1 << 17}, {Count: 1000, Length: 1000}}) {
				lists, err := work.Draw(ctx, s.Opt.Seed)
				if err != nil {
					return err
				}
				for _, who := range s.Contestants {
					for _, id := range s.Opt.Codecs {
						if !decodes(who, id) {
							continue
						}
						d, err := s.decode(ctx, who, s.Opt.Threads, id, codec.DefaultOptions(), lists)
						if err != nil {
							return err
						}
						s.Put(who.On(harness.Reading{Panel: work.String(), Series: who.String(), At: id.String(), Row: d.into(measure.Row{Row: id.String()})}))
					}
				}
			}
			return nil
		},
	}
}
