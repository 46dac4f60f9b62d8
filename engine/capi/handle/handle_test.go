package handle

import (
	"errors"
	"slices"
	"sync"
	"testing"
)

// journal is a value that writes its name when it is closed.
type journal struct {
	name string
	all  *[]string
}

func (j *journal) Close() error {
	*j.all = append(*j.all, j.name)
	return nil
}

type other struct{}

func (other) Close() error { return errors.New("broken") }

func TestTable(t *testing.T) {
	var table Table
	var closed []string
	engine := table.Add(0, &journal{"engine", &closed})
	index := table.Add(engine, &journal{"index", &closed})
	table.Add(index, &journal{"snapshot", &closed})
	broken := table.Add(0, other{})

	for _, h := range []uint64{0, 99, broken} {
		if _, _, err := Use[*journal](&table, h); !errors.Is(err, ErrUnknown) {
			t.Errorf("handle %d: %v", h, err)
		}
	}
	if j, release, err := Use[*journal](&table, index); err != nil || j.name != "index" {
		t.Fatal(j, err)
	} else {
		release()
	}
	if err := table.Close(engine); err != nil || !slices.Equal(closed, []string{"snapshot", "index", "engine"}) {
		t.Errorf("closed %v, %v", closed, err)
	}
	for h := engine; h < broken; h++ {
		if err := table.Close(h); !errors.Is(err, ErrClosed) {
			t.Errorf("second close of %d: %v", h, err)
		}
		if _, _, err := Use[*journal](&table, h); !errors.Is(err, ErrClosed) {
			t.Errorf("use of %d: %v", h, err)
		}
	}
	if err := table.Close(broken); err == nil || err.Error() != "broken" {
		t.Error(err)
	}
}

// TestConcurrent: a value is not closed while a call uses it, and once only.
func TestConcurrent(t *testing.T) {
	var table Table
	var closed []string
	h := table.Add(0, &journal{"x", &closed})
	_, release, err := Use[*journal](&table, h)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		all.Go(func() { errs[i] = table.Close(h) })
	}
	if len(closed) != 0 {
		t.Error("closed while it was in use")
	}
	release()
	all.Wait()
	failed := 0
	for _, err := range errs {
		if errors.Is(err, ErrClosed) {
			failed++
		}
	}
	if failed != len(errs)-1 || len(closed) != 1 {
		t.Errorf("%d of %d calls failed, closed %v", failed, len(errs), closed)
	}
}
