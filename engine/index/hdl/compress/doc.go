// Package compress has the codes of the strings in index files: front coding, which leaves out what a
// string shares with the string before it, canonical Huffman codes of bytes, and dictionaries of zstd.
package compress
