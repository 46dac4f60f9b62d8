package hdl

import (
	"errors"
	"slices"
	"testing"

	"heddle/engine/file/container"
	"heddle/engine/file/container/containertest"
	"heddle/engine/index/analyze"
)

// FuzzOpen edits a good file by the rules of containertest.Edited.
func FuzzOpen(f *testing.F) {
	image := tiny().image(f)
	f.Add([]byte{0, 0, 1}, 0)
	f.Add([]byte{8, 0, 2, 16, 0, 0}, -PageSize)
	f.Add([]byte{64, 0, 9, 0, 16, 1, 0, 32, 255, 0, 48, 17}, 1)
	f.Fuzz(func(t *testing.T, edits []byte, resize int) {
		containertest.Edited(t, image, edits, resize, func(data []byte, deep bool) error {
			file, err := fromBytes("x", data, deep)
			if err != nil {
				return err
			}
			exercise(t, file)
			if !deep || foreign(file) {
				return nil
			}
			return file.Verify(t.Context())
		})
	})
}

// foreign reports that an intact file names an analysis that this version does not know.
func foreign(f *File) bool {
	_, err := analyze.New(f.Meta().Analysis)
	return err != nil && f.file.CheckSums() == nil
}

// FuzzSections puts arbitrary sections into a file with a correct table and correct
// checksums, so that the checks of the content are tested.
func FuzzSections(f *testing.F) {
	for _, s := range []*sample{tiny(), {}, tiny().withTexts(), (&sample{}).withTexts(), tiny().withImpacts(8), rounded()} {
		file := mustOpen(f, s.build(f))
		h := file.header
		b := func(i section) []byte { return file.bytes(i) }
		f.Add(h.docs, h.terms, h.postings, h.tokens, h.length, b(secDocIDs), b(secFreqs), b(secLists), b(secTerms), b(secTermOffsets),
			b(secNames), b(secNameOffsets), b(secLengths), b(secMeta), b(secDocuments), b(secDocumentBlocks), b(secDocumentOffsets), b(secListBlocks), b(secFields))
	}
	f.Fuzz(func(t *testing.T, docs, terms uint32, postings, tokens, length uint64, docIDs, freqs, lists, termBytes, termOffsets,
		names, nameOffsets, lengths, meta, texts, textBlocks, textOffsets, listBlocks, fields []byte) {
		h := header{docs: docs, terms: terms, postings: postings, tokens: tokens, length: length}
		h.Table = make([]container.Extent, numSections)
		sections := [][]byte{docIDs, freqs, lists, termBytes, termOffsets, nil, names, nameOffsets, lengths, meta,
			texts, textBlocks, textOffsets, listBlocks, nil, fields}
		// The lengths that the header rules out are FuzzOpen's business.
		for i, b := range sections {
			if section(i) == secDocumentBlocks {
				sections[i] = append(slices.Clone(b), make([]byte, -len(b)&15)...)
			}
			if section(i) == secDocumentOffsets && len(b) > 0 && docs < 1<<13 {
				sections[i] = append(slices.Clone(b), make([]byte, 8*docs+8)...)[:8*docs+8]
			}
			if n, fixed := h.sectionLength(section(i)); fixed {
				if n > 1<<16 {
					return
				}
				sections[i] = append(slices.Clone(b), make([]byte, n)...)[:n]
			}
			if section(i) <= secFreqs {
				sections[i] = b[:len(b)&^15]
			}
		}
		data := containertest.Layout(&format, h.encode(), sections...)
		file, err := fromBytes("x", data, true)
		if err != nil {
			if errors.Is(err, ErrVersion) { // unknown rules or features
				return
			}
			if c := containertest.WantCorrupt(t, err, "x"); c.Section == container.HeaderName {
				t.Fatalf("the test built a bad header: %v", err)
			}
			return
		}
		exercise(t, file)
	})
}
