package parquet

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"heddle/engine/file/input"
	"heddle/engine/table/column"
	"heddle/engine/table/read"
	"heddle/engine/table/read/readtest"
)

// written writes rows of values of a schema, some rows a page and a group.
func written(t testing.TB, root parquet.Node, version int, rows []parquet.Row) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("t", root), parquet.DataPageVersion(version), parquet.PageBufferSize(1024), parquet.MaxRowsPerRowGroup(700))
	if _, err := w.WriteRows(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return readtest.Write(t, "lists.parquet", b.String())
}

// lists reads a file and gives the values of each row of a column of integers, -1 for none.
func lists(t testing.TB, path string, opt Options) (fields []read.Field, all [][][]int64, nulls uint64) {
	t.Helper()
	return listsIn(t, []string{path}, opt)
}

// listsIn is lists of several files.
func listsIn(t testing.TB, paths []string, opt Options) (fields []read.Field, all [][][]int64, nulls uint64) {
	t.Helper()
	s, err := Open(t.Context(), paths, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fields, all = s.Fields(), make([][][]int64, len(s.Fields()))
	var b read.Batch
	for s.Next(t.Context(), &b) == nil {
		for i := range b.Columns {
			v, at := &b.Columns[i], 0
			if !fields[i].List {
				for row, key := range v.Keys {
					one := []int64{column.KeyInt(key)}
					if len(v.Missing) > 0 && v.Missing[row] {
						one = nil
					}
					all[i] = append(all[i], one)
				}
				continue
			}
			for _, n := range v.Counts {
				var row []int64
				for _, key := range v.Elements.Keys[at : at+int(n)] {
					row = append(row, column.KeyInt(key))
				}
				at += int(n)
				all[i] = append(all[i], row)
			}
			if at != len(v.Elements.Keys) {
				t.Fatalf("%d values in rows, %d in all", at, len(v.Elements.Keys))
			}
		}
	}
	return fields, all, s.Invalid().Nulls
}

// TestLists reads lists with missing lists, empty ones and missing elements, from pages of both versions,
// from the library and from the reader of this package.
func TestLists(t *testing.T) {
	for _, version := range []int{1, 2} {
		for name, codec := range map[string]func(parquet.Node) parquet.Node{
			"snappy":  func(n parquet.Node) parquet.Node { return parquet.Compressed(n, &parquet.Snappy) },
			"lz4_raw": func(n parquet.Node) parquet.Node { return parquet.Compressed(n, &parquet.Lz4Raw) },
		} {
			element := parquet.Optional(codec(parquet.Int(64)))
			root := parquet.Group{"n": parquet.Optional(parquet.List(element))}
			r := rand.New(rand.NewPCG(1, uint64(version)))
			var rows []parquet.Row
			var want [][]int64
			nulls := uint64(0)
			for range 3000 {
				var row parquet.Row
				var values []int64
				switch n := r.IntN(6); n {
				case 0:
					row = append(row, parquet.NullValue().Level(0, 0, 0))
				case 1:
					row = append(row, parquet.NullValue().Level(0, 1, 0))
				default:
					for i := range n - 1 {
						if r.IntN(5) == 0 {
							nulls++
							row = append(row, parquet.NullValue().Level(min(i, 1), 2, 0))
							continue
						}
						v := r.Int64N(1000)
						values = append(values, v)
						row = append(row, parquet.Int64Value(v).Level(min(i, 1), 3, 0))
					}
				}
				rows, want = append(rows, row), append(want, values)
			}
			path := written(t, root, version, rows)
			for _, batch := range []int64{0, 1, 7} {
				fields, got, left := lists(t, path, Options{rows: batch})
				if len(fields) != 1 || fields[0] != (read.Field{Name: "n", Type: column.Int, List: true}) || left != nulls ||
					!slices.EqualFunc(got[0], want, slices.Equal[[]int64]) {
					t.Errorf("%s, pages of version %d, batches of %d: fields %v, %d rows, %d nulls, want %d and %d", name, version, batch, fields, len(got[0]), left, len(want), nulls)
				}
			}
		}
	}
}

// TestStructs reads members of structs, of lists of structs and of lists in lists, by their paths.
func TestStructs(t *testing.T) {
	type place struct {
		X int64  `parquet:"x"`
		Y *int64 `parquet:"y,optional"`
	}
	type row struct {
		A      int64   `parquet:"a"`
		In     *place  `parquet:"in,optional"`
		Many   []place `parquet:"many,list"`
		Plain  []int64 `parquet:"plain"`
		Listed []int64 `parquet:"listed,list"`
	}
	y := int64(9)
	path := parquetFile(t, "structs.parquet", 2, []row{
		{A: 1, In: &place{2, &y}, Many: []place{{3, nil}, {4, &y}}, Plain: []int64{5, 6}, Listed: []int64{7}},
		{A: 2}, {A: 3, In: &place{8, nil}, Plain: []int64{1}},
	})
	fields, got, nulls := lists(t, path, Options{})
	want := "[a int in.x int in.y int many.x int[] many.y int[] plain int[] listed int[]] " +
		"[[[1] [2] [3]] [[2] [] [8]] [[9] [] []] [[3 4] [] []] [[9] [] []] [[5 6] [] [1]] [[7] [] []]] 1"
	if text := fmt.Sprint(fields, got, nulls); text != want {
		t.Errorf("%s, want\n%s", text, want)
	}
	s, err := Open(t.Context(), []string{path}, Options{Columns: []string{"many.y", "a"}})
	if err != nil || fmt.Sprint(s.Fields()) != "[many.y int[] a int]" {
		t.Errorf("fields %v, %v", s.Fields(), err)
	}
	s.Close()
}

// listed is a group with the annotation LIST, whose member has a name of an older writer.
type listed struct{ parquet.Group }

func (listed) Type() parquet.Type { return parquet.List(parquet.Int(64)).Type() }

// TestOldLists: the repeated member is a struct by its name, otherwise the name goes.
func TestOldLists(t *testing.T) {
	for member, want := range map[string]string{"array": "a.l.x", "l_tuple": "a.l.x", "bag": "a.l", "tuple": "a.l"} {
		root := parquet.Group{"a": parquet.Group{"l": listed{parquet.Group{member: parquet.Repeated(parquet.Group{"x": parquet.Int(64)})}}}}
		path := written(t, root, 2, []parquet.Row{{parquet.Int64Value(1).Level(0, 1, 0), parquet.Int64Value(2).Level(1, 1, 0)}})
		fields, got, _ := lists(t, path, Options{})
		if text := fmt.Sprint(fields, got); text != "["+want+" int[]] [[[1 2]]]" {
			t.Errorf("%s: %s", member, text)
		}
	}
}

// TestListsInLists reads all values of a row.
func TestListsInLists(t *testing.T) {
	root := parquet.Group{"d": parquet.List(parquet.List(parquet.Int(64)))}
	v := func(x int64, again int) parquet.Value { return parquet.Int64Value(x).Level(again, 2, 0) }
	path := written(t, root, 2, []parquet.Row{{v(1, 0), v(2, 2), v(3, 1)}, {parquet.NullValue().Level(0, 0, 0)}, {parquet.NullValue().Level(0, 1, 0), v(4, 1)}})
	_, got, nulls := lists(t, path, Options{})
	if text := fmt.Sprint(got, nulls); text != "[[[1 2 3] [] [4]]] 0" {
		t.Error(text)
	}
}

// TestListTexts treats texts in lists that are not UTF-8.
func TestListTexts(t *testing.T) {
	root := parquet.Group{"s": parquet.List(parquet.String())}
	text := func(s string, again int) parquet.Value { return parquet.ByteArrayValue([]byte(s)).Level(again, 1, 0) }
	path := written(t, root, 1, []parquet.Row{{text("a", 0), text("b\xff", 1)}, {text("c", 0)}})
	texts := func(opt Options) (string, error) {
		s, err := Open(t.Context(), []string{path}, opt)
		if err != nil {
			return "", err
		}
		defer s.Close()
		var b read.Batch
		if err := s.Next(t.Context(), &b); err != nil {
			return "", err
		}
		var all []string
		b.Columns[0].Elements.Each(func(_ int, value []byte, _ bool) { all = append(all, string(value)) })
		return fmt.Sprint(b.Columns[0].Counts, " ", strings.Join(all, ",")), nil
	}
	if _, err := texts(Options{}); err == nil || !strings.Contains(err.Error(), `column "s": row 0 (from 0)`) {
		t.Errorf("invalid text: %v", err)
	}
	if got, err := texts(Options{Invalid: input.Replace}); err != nil || got != "[2 1] a,b\ufffd,c" {
		t.Errorf("replaced: %q, %v", got, err)
	}
	if got, err := texts(Options{Invalid: input.Skip}); err != nil || got != "[1] c" {
		t.Errorf("skipped: %q, %v", got, err)
	}
}

// TestListsUnited: rows of a file without the list have no values.
func TestListsUnited(t *testing.T) {
	type with struct {
		A int64   `parquet:"a"`
		L []int64 `parquet:"l,list"`
	}
	type without struct {
		A int64 `parquet:"a"`
	}
	one := parquetFile(t, "one.parquet", 10, []with{{1, []int64{2, 3}}, {4, nil}})
	two := parquetFile(t, "two.parquet", 10, []without{{5}, {6}})
	for want, paths := range map[string][]string{
		"[[[1] [4] [5] [6]] [[2 3] [] [] []]]": {one, two}, "[[[5] [6] [1] [4]] [[] [] [2 3] []]]": {two, one},
	} {
		_, got, _ := listsIn(t, paths, Options{})
		if text := fmt.Sprint(got); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
