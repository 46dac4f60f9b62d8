package bench

import "context"

// kddRows is how many rows the paper's KDD has.
const kddRows = 4_898_431

// realTables makes sets of real tables of opt.Real.
func (s *session) realTables() (all []func(ctx context.Context, word int) (*bitmapSet, error), err error) {
	return nil, nil
}
