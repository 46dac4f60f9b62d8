package hdb

import (
	"bytes"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
)

// FuzzOpen edits a good file by the rules of containertest.Edited.
func FuzzOpen(f *testing.F) {
	images := [][]byte{tiny().image(f), second().image(f)}
	f.Add(false, []byte{0, 0, 1}, 0)
	f.Add(true, []byte{8, 0, 2, 16, 0, 0}, -PageSize)
	f.Add(false, []byte{64, 0, 9, 0, 16, 1, 0, 32, 255, 0, 48, 17}, 1)
	f.Fuzz(func(t *testing.T, other bool, edits []byte, resize int) {
		image := images[0]
		if other {
			image = images[1]
		}
		containertest.Edited(t, image, edits, resize, func(data []byte, deep bool) error {
			file, err := fromBytes("x", data, deep)
			if err != nil {
				return err
			}
			exercise(t, file)
			return file.Verify(t.Context())
		})
	})
}

// FuzzSections puts arbitrary sections into a file with a correct header and correct
// checksums, so that the checks of the content are tested.
func FuzzSections(f *testing.F) {
	files := []string{writeParts(f)}
	for _, s := range []*sample{tiny(), second(), {word: 32}, shapes(70, 64, 3)} {
		files = append(files, s.build(f))
	}
	for _, path := range files {
		file := mustOpen(f, path)
		b := func(i section) []byte { return file.bytes(i) }
		f.Add(file.Rows(), file.Word() == 64, b(secVectors), b(secVectorTable), b(secSlices), b(secTiles), b(secBins),
			b(secStrings), b(secStringOffsets), b(secColumns), b(secMeta), b(secRanks))
	}
	f.Fuzz(func(t *testing.T, rows uint32, wide bool, vectors, vectorTable, words, tiles, bins, strings, offsets, columns, meta, ranks []byte) {
		h := header{rows: rows % (1 << 14), word: 32} // within the reach of exercise
		if wide {
			h.word = 64
		}
		if len(offsets) < 8 {
			offsets = make([]byte, 8)
		}
		sections := [][]byte{vectors, vectorTable, words, tiles, bins, strings, offsets, columns, meta, ranks}
		for s, unit := range map[section]int{secVectors: 16, secVectorTable: vectorSize, secSlices: 16, secTiles: tileSize, secBins: binSize, secStringOffsets: 8, secRanks: 8} {
			sections[s] = sections[s][:len(sections[s])/unit*unit]
		}
		h.vectors, h.columns = uint32(len(vectorTable)/vectorSize), uint32(bytes.Count(columns, []byte(`"name"`)))
		h.bins, h.strings = uint64(len(bins)/binSize), uint64(len(offsets)/8-1)
		data := containertest.Layout(&format, h.fields(), sections...)
		for _, deep := range []bool{false, true} {
			file, err := fromBytes("x", data, deep)
			if err == nil {
				exercise(t, file)
			} else if c := containertest.WantCorrupt(t, err, "x"); c.Section == container.HeaderName {
				t.Fatalf("the test built a bad header: %v", err)
			}
		}
	})
}
