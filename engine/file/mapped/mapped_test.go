package mapped_test

import (
	"errors"
	"testing"

	"heddle/engine/file/mapped"
	"heddle/engine/file/mapped/mappedtest"
)

// panics returns the value with which f panics; nil if it returns.
func panics(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func TestCatch(t *testing.T) {
	words := mappedtest.Words(t, 1<<16, 6000)
	caught := func(f func()) (err error) {
		defer mapped.Catch(mapped.Watch(), &err)
		f()
		return nil
	}
	var sum uint32
	if err := caught(func() { sum = words[0] + words[1999] }); err != nil || sum != 0 {
		t.Errorf("within the file: %v", err)
	}
	for name, f := range map[string]func(){
		"a lost page":    func() { sum = words[2048] },
		"the last page":  func() { sum = words[1<<16-1] },
		"a copy":         func() { copy(make([]uint32, len(words)), words) },
		"zeros as index": func() { sum = words[10:][:20][words[5]-1] },
	} {
		err := caught(f)
		if !errors.Is(err, mappedtest.ErrLost) || !mapped.IsFault(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	own := errors.New("own")
	if r := panics(func() { _ = caught(func() { panic(own) }) }); r != own {
		t.Errorf("another panic became %v", r)
	}
	if r := panics(func() { defer mapped.Unwatch(mapped.Watch()); sum = words[5000] }); r == nil {
		t.Error("no panic under Watch")
	}
	if mapped.Watch() {
		t.Error("Catch and Unwatch leave Watch on")
	}
}

// TestIntact: without a truncated file, an index out of range is a bug of the program.
func TestIntact(t *testing.T) {
	words := mappedtest.Words(t, 1<<10, 4<<10)
	r := panics(func() {
		var err error
		func() {
			defer mapped.Catch(mapped.Watch(), &err)
			_ = words[len(words)+int(words[0])]
		}()
		t.Errorf("caught: %v", err)
	})
	if r == nil {
		t.Error("no panic")
	}
}

// TestCatchAfterClose: a deferred Close may remove the mapping before Catch looks for it.
func TestCatchAfterClose(t *testing.T) {
	for name, i := range map[string]int{"a lost page": 9000, "zeros as index": 0} {
		words, remove := mappedtest.Mapping(t, 1<<16, 6000)
		err := func() (err error) {
			defer mapped.Catch(mapped.Watch(), &err)
			defer remove()
			_ = words[:10:10][words[i]-1]
			return nil
		}()
		if !errors.Is(err, mappedtest.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
