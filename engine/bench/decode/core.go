package decode

import (
	"context"

	"heddle/codec"
	"heddle/engine/bench/harness"
	"heddle/engine/bench/measure"
	"heddle/engine/bench/workload"
)

// coreExhibit decodes on one core.
func (s *bench) coreExhibit() harness.Exhibit {
	return harness.Exhibit{
		Name: "core", Title: "Decoding to docIDs on one core of pure Go, 8 bits a gap",
		Ours: "Lists of 1,000 and 64 K docIDs in turn, decoded into memory that stays in cache; per GHz of the clock that was measured.",
		Rows: "codec",
		Run: func(ctx context.Context) error {
			who, ok := s.Host()
			if !ok {
				return nil
			}
			ghz := measure.Clock()
			s.Logf("a core runs at %.2f GHz", ghz)
			for _, work := range []workload.EvenLists{{Count: 64, Length: 1000}, {Count: 1, Length: 64 << 10}} {
				lists, err := work.Draw(ctx, s.Opt.Seed)
				if err != nil {
					return err
				}
				for _, id := range s.Opt.Codecs {
					d, err := s.decode(ctx, who, 1, id, codec.DefaultOptions(), lists)
					if err != nil {
						return err
					}
					row := d.into(measure.Row{})
					row.Unit, row.PeakFraction = "G ints/s per GHz", 0
					row.Median, row.Min, row.Max = row.Median/ghz, row.Min/ghz, row.Max/ghz
					s.Put(who.On(harness.Reading{Panel: "one core", Series: work.String(), At: id.String(), Row: row}))
				}
			}
			return nil
		},
	}
}
