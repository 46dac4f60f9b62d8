package codec_test

import (
	"fmt"

	"heddle/codec"
)

func ExampleAppend() {
	docs := []uint32{3, 17, 18, 400, 402, 403, 404, 405}
	opt := codec.DefaultOptions()
	id := codec.Choose(codec.ParaPFor, docs, 1000, opt).ID
	words, err := codec.Append(nil, id, docs, opt)
	if err != nil {
		fmt.Println(err)
		return
	}
	list := codec.List{Codec: id, Len: uint32(len(docs)), Words: words}
	back, err := list.AppendTo(nil)
	fmt.Println(id, len(words), back, err)
	// Output: parapfor 6 [3 17 18 400 402 403 404 405] <nil>
}

func ExampleList_Validate() {
	list := codec.List{Codec: codec.Raw, Len: 3, Words: []uint32{4, 9, 9}}
	fmt.Println(list.Validate())
	// Output: codec: corrupt raw list at word 2: docID 9 behind 9
}

func ExampleLine() {
	docs := []uint32{10, 20, 31, 40, 50, 60}
	line := codec.FitLine(docs)
	lo, hi := line.Range(31, uint32(len(docs)))
	fmt.Println(docs[lo:hi])
	// Output: [31]
}
