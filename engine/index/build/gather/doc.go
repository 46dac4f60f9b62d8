// Package gather collects postings by term in bounded memory, writes them to a temporary file as sorted
// runs, and merges the runs. A Tally inverts documents of a chunk, Piles join such chunks, and Postings
// take lists that are inverted already.
package gather
