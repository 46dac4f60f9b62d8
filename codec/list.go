package codec

// List is one encoded posting list: a view, it owns nothing. It is safe for
// concurrent use while nobody writes to Words.
type List struct {
	Codec ID
	Len   uint32   // number of docIDs
	Words []uint32 // the encoded form, exactly its length
}
