// Package querylang is the query language of heddle:
//
//	heaven earth                     words; the mode of the query joins them
//	+bone marrow -cell               bone is required, cell excluded, marrow adds to the score
//	heaven AND (earth OR sea) NOT hell
//	heaven && (earth || sea) !hell   the same
//	shepherd^2.5 lord                a weight, of ranked queries
//	comp*                            every term that begins with comp
//	loom~ loom~1 loom~2,3            similar terms: 2 edits, 1 edit, 2 edits behind the first 3 characters
//	te?t *ing b*n*                   wildcards: ? is one character, * any number of them
//	/b.ne/                           a regular expression of whole terms, in RE2 syntax
//	[a TO b] {a TO b} [a TO *}       terms in alphabetical order: with the ends, without, open
//	"red loom"                       a phrase: loom right behind red
//	"red loom"~3                     a phrase with a slop of 3
//	"red lo*"                        a phrase with a prefix
//	NEAR/5(red loom weft)            the words in any order within 5 positions
//	ORDERED/5(red loom weft)         in this order, each at most 5 positions behind the one before
//	title:loom title:"red loom"      in the field title, of an index with fields
//	title:(red loom)^2               in the field title, unless a field is inside
//	title:*                          all documents with a word in the field title
//	* ** *:* +*                      all documents
//	NOT hell                         all documents without hell
//
//	query    = { or }
//	or       = list { ( "OR" | "||" ) list }
//	list     = clause { [ "AND" | "&&" ] clause }
//	clause   = [ "+" | "-" | "!" | "NOT" ] operand
//	operand  = "*" | [ field ":" ] ( "*" | word | prefix "*" | tolerant | phrase | window | "(" or ")" ) [ "^" number ]
//	tolerant = word "~" [ "1" | "2" ] [ "," number ] | wildcard | "/" expression "/"
//	         | ( "[" | "{" ) ( word | "*" ) "TO" ( word | "*" ) ( "]" | "}" )
//	phrase   = '"' words '"' [ "~" whole ]
//	window   = ( "NEAR" | "ORDERED" ) "/" whole "(" words ")"
//	words    = { word | prefix "*" }
//
// A list has the same meaning as in Lucene. + and AND make a clause required: AND the clauses on
// both sides. -, ! and NOT exclude the documents of a clause. A document matches a list if it
// has all required clauses and no excluded one. The other clauses then only add to its
// score. In a list without required clauses one of them must match. If the mode of a query
// is and, its unmarked clauses are required. A list of excluded clauses alone matches all other
// documents. OR separates lists, so AND binds closer than OR.
//
// The score of a document is the sum of its words that are not excluded, also of words in parentheses that
// do not match as a whole: in c OR (a AND b) the score of a adds to documents with a and c. In Lucene only clauses that match
// add to the score.
//
// A * means all documents directly behind a sign. It also means them at the start of a list or behind AND, OR or NOT, if
// the list ends behind it or an operator or sign follows. Elsewhere it is text: 2 * 3. ** and *:* are as *. Documents that
// only a *, a title:* or a NOT matches have the score 0, and a weight behind a * or a title:* changes nothing.
//
// Phrases and windows need an index with positions, and stand wherever a word does. The analysis of the index makes
// terms of their words. A stop word leaves a gap in a phrase, so that "in the beginning" needs one word
// between in and beginning, and is left out of a window. A slop is the distance by which the words may move
// against one another, as in Lucene: "red loom"~2 also finds loom red. The frequency of a sloppy phrase adds 1 / (1 + d) for each match
// with the distance d, and the weight of a phrase is the sum of the weights of its terms. A window of Indri (#uw5,
// #od5) counts the places where the words begin; each word of an ORDERED takes its first place behind the word before. Two equal words
// of a NEAR may take one place, so that NEAR/5(red red) finds one red, and ORDERED/5(red red) needs two. A prefix stands for any of its
// terms. If stop words leave one place of a phrase or window, its terms are an OR, and each scores alone.
// In quotes only the quote, the backslash and a * at the end of a word have a meaning, in a window also parentheses. A phrase begins at
// the start of a word, a window has no white space before its parenthesis: NEAR/5 (red loom) is text.
//
// AND, OR and NOT are operators only in capitals, && and || only as words of their own. +, -
// and ! are signs at the start of a word and directly before a letter, a digit, a parenthesis, a quote,
// a tolerant word or a *. Elsewhere they are text: well-known, C++, a - b, Hello!, a&&b. A parenthesis without
// its partner, and parentheses around nothing, are text too; Bare finds them.
//
// A ^ directly behind a letter, an escaped character, a prefix or a closing parenthesis begins a
// weight, up to the end of the word. A weight that is no positive finite decimal number is an
// error: faith^0, faith^-1, faith^1e999, faith^NaN, x^n. Behind another character of a word
// with a letter, such as in covid-19^2, a ^ begins a weight if such a number is behind it.
// Elsewhere it is text: 10^8 cells, 10^-8. Parentheses give a number a weight: (1998)^2, and a
// backslash makes the character text: x\^n. A weight behind parentheses multiplies the weights
// inside.
//
// A word ends at white space or a parenthesis. A backslash makes the next character plain
// text: \AND, \(, \ . A quote inside a word (bone"marrow) is an error.
//
// A field begins a word: a letter, then letters, digits, _, . and -, a colon, and directly behind it an operand. Elsewhere
// a colon is text: 12:30, http://x, a: b. A word without a field stands for an OR of the word in each of the
// fields of the query (InFields), whose scores add up. So AND finds each of its words in any field.
//
// A tolerant word, such as loom~1, stands for terms of the index: see Tolerant. Its characters are tolerant only in
// their places, and text elsewhere:
//
//   - A ~ stands behind a word, before white space, a parenthesis, a ^ or the end; a number of edits and a number of
//     first characters may follow. Text: a~b, ~.
//   - A word with a * before a letter or digit has wildcards, and a word with a ? before a letter or digit that is behind
//     another one or in front of the word; then each * and ? of the word is a wildcard. A * at the end alone makes a prefix.
//     Text: what?, 2 * 3.
//   - A range begins a word with a bracket; one word, TO in capitals, one word and a closing bracket follow. Text: [1],
//     [a to b], [A TO Z of gardening], x[1 TO 2].
//   - A regular expression begins a word with a slash; text without white space and further slashes follows, and a
//     slash before white space, a parenthesis, a ^ or the end. Text: and/or, /usr/bin, /usr/bin/, http://x/.
//
// A prefix or tolerant word outside phrases has at most MaxWord bytes, a regular expression at most MaxExpression.
//
// The engine sends each word through the analyser of the index. It sends a prefix through
// the part of the analyser that changes characters, without stemmer and stop words, and so the texts of a similar word, a
// wildcard and a range. A regular expression stays as it is.
package querylang
