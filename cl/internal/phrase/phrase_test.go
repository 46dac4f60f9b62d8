package phrase

import (
	"slices"
	"strings"
	"testing"

	"heddle/cl/internal/device"
	"heddle/cl/internal/device/devicetest"
	"heddle/cl/internal/lists"
	"heddle/cl/internal/rank"
	"heddle/codec"
	"heddle/engine/plan"
)

// ops are the operations of the tests.
var ops = device.Operations{lists.Operation, rank.Operation, Operation}

// TestPhrases makes the lists of phrases of each kind in one round and in many, in each shape of the decoders, and compares them with plain Go.
func TestPhrases(t *testing.T) {
	devicetest.ForShapes(t, devicetest.Find(t, ops), func(t *testing.T, rt *device.Runtime) {
		if err := selfTest(t.Context(), rt); err != nil {
			t.Fatal(err)
		}
		m, at, err := open(t.Context(), rt)
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		all, st := phrases(len(at)), plan.Stats{}
		if _, err := m.run(t.Context(), all, &st); err != nil {
			t.Fatal(err)
		}
		if st.PhraseCandidates == 0 || st.Positions < st.PhraseCandidates || st.DevicePositions != st.Positions {
			t.Errorf("%d candidates, %d positions, %d of the device", st.PhraseCandidates, st.Positions, st.DevicePositions)
		}
		once := st
		m.data.Load().most, st = 2*lists.RunLen, plan.Stats{}
		made, err := m.run(t.Context(), all, &st)
		if err != nil {
			t.Fatal(err)
		}
		makesAll(t, at, all, func(i int) *plan.Made { return made[i] })
		if st.PhraseCandidates != once.PhraseCandidates || st.Positions != once.Positions || st.BytesUp <= once.BytesUp {
			t.Errorf("in rounds %+v, at once %+v", st, once)
		}
	})
}

// TestMoved counts the words that are loaded for positions: of gaps of one bit a word each, and some for the directory and the frequencies.
func TestMoved(t *testing.T) {
	at := make([]map[uint32][]uint32, words)
	for w := range at {
		at[w] = map[uint32][]uint32{}
		for d := range uint32(10) {
			for i := range uint32(1000) {
				at[w][d] = append(at[w][d], 2*i+uint32(w)%2)
			}
		}
	}
	row := devicetest.Find(t, ops).Tuning()
	var stats [2]plan.Stats
	for i := range stats {
		rt, err := device.Open(t.Context(), devicetest.Find(t, ops), device.Options{Tuning: &row, SkipSelfTest: true, CountLoads: i == 1})
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		m, err := openOn(t.Context(), rt, sourceOf(t, at))
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		made, err := m.run(t.Context(), []*plan.Phrase{{Slots: []plan.Slot{{Lists: []plan.Handle{0}}, {Offset: 1, Lists: []plan.Handle{1}}}}}, &stats[i])
		if err != nil || len(made[0].Docs) != 10 || made[0].Freqs[0] != 1000<<plan.FreqBits {
			t.Fatalf("%+v, %v", made[0], err)
		}
	}
	loads, positions := stats[1].BytesMoved/4, stats[1].Positions
	if stats[0].BytesMoved != 0 || positions < 19000 || loads < positions || loads > positions*11/10+1000 {
		t.Errorf("%d and %d words for %d positions", stats[0].BytesMoved/4, loads, positions)
	}
}

// TestLeft asks for phrases that are left to pure Go.
func TestLeft(t *testing.T) {
	rt := devicetest.OpenRow(t, devicetest.Find(t, ops), devicetest.Find(t, ops).Tuning(), false)
	m, at, err := open(t.Context(), rt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	one := plan.Slot{Lists: []plan.Handle{0}}
	several := plan.Slot{Lists: slices.Repeat([]plan.Handle{1}, Lists)}
	all := []*plan.Phrase{
		{Kind: plan.Ordered + 1, Slots: []plan.Slot{one, one}},
		{Kind: plan.Sloppy, Slots: []plan.Slot{one, {Lists: []plan.Handle{1, 0}}}},
		{Slots: []plan.Slot{one, several}},
		{Slots: slices.Repeat([]plan.Slot{one}, Slots+1)},
		phrases(len(at))[0],
	}
	reasons := []string{"of a kind", "a term in common", "more than 64 terms", "more than 8 words", ""}
	for i, p := range all {
		var st plan.Stats
		made, err := m.run(t.Context(), []*plan.Phrase{p}, &st)
		if err != nil {
			t.Fatal(err)
		}
		if left := reasons[i] != ""; (made[0] == nil) != left || !strings.Contains(st.PhraseReason, reasons[i]) || !left && st.PhraseReason != "" {
			t.Errorf("phrase %d: left is %t, %q, want %q", i, made[0] == nil, st.PhraseReason, reasons[i])
		}
	}
	var src plan.Source
	if _, err := src.Append(codec.RPFD, []uint32{1, 2}, codec.DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	if reason := refuses(&src, &plan.Phrase{Slots: []plan.Slot{one, one}}); reason != "a list of rpfd" {
		t.Error(reason)
	}
	var st plan.Stats
	short, _, err := open(t.Context(), rt)
	if err != nil {
		t.Fatal(err)
	}
	defer short.close()
	left := rt.Memory.Left()
	if err := rt.Memory.Reserve(left, "a test"); err != nil {
		t.Fatal(err)
	}
	made, err := short.Make(t.Context(), all, &st)
	if err != nil || len(made) != len(all) || slices.ContainsFunc(made, func(m *plan.Made) bool { return m != nil }) || !strings.Contains(st.PhraseReason, "are in use") {
		t.Errorf("without memory: %v, %v, %q", made, err, st.PhraseReason)
	}
	rt.Memory.Unreserve(left)
	if made, err = short.Make(t.Context(), all, &st); err != nil || made[len(made)-1] == nil {
		t.Errorf("with memory again: %v, %v", made, err)
	}
}
