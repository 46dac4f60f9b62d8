// Package querylang is the query language of heddle:
//
//	heaven earth                     words; the mode of the query joins them
//	+bone marrow -cell               bone is required, cell excluded, marrow adds to the score
//	heaven AND (earth OR sea) NOT hell
//	heaven && (earth || sea) !hell   the same
//	shepherd^2.5 lord                a weight, of ranked queries
//	comp*                            every term that begins with comp
//	*                                all documents
//	NOT hell                         all documents without hell
//
//	query    = { or }
//	or       = list { ( "OR" | "||" ) list }
//	list     = clause { [ "AND" | "&&" ] clause }
//	clause   = [ "+" | "-" | "!" | "NOT" ] operand
//	operand  = "*" | ( word | prefix "*" | "(" or ")" ) [ "^" number ]
//
// A list has the same meaning as in Lucene. + and AND make a clause required: AND the clauses on
// both sides. -, ! and NOT exclude the documents of a clause. A document matches a list if it
// has all required clauses and no excluded one. The other clauses then only add to its
// score. In a list without required clauses one of them must match. If the mode of a query
// is and, its unmarked clauses are required. A list of excluded clauses alone matches all other
// documents. OR separates lists, so AND binds closer than OR.
//
// A * means all documents where it begins a list or follows AND, OR or NOT, and the list ends behind it
// or an operator or sign follows. Elsewhere it is text: 2 * 3. Documents that only a * or a NOT matches have
// the score 0.
//
// AND, OR and NOT are operators only in capitals, && and || only as words of their own. +, -
// and ! are signs at the start of a word and directly before a letter, a digit or a
// parenthesis. Elsewhere they are text: well-known, C++, a - b, Hello!, a&&b. A parenthesis without
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
// text: \AND, \(, \ . Phrases ("bone marrow"), fields (title:bone), similar words (bone~1)
// and wildcards inside words (b*ne, b?ne) are errors, and so are:
//
//   - a range, such as [a TO b], {a TO b} or year:[1990 TO *]: a bracket that is not behind a
//     letter or digit, one word, TO in capitals, one word and a closing bracket. Other brackets
//     are text: [1], [a to b], [A TO Z of gardening], x[1 TO 2].
//   - a regular expression, such as /b.ne/: a slash at the start of a word, text without white
//     space and further slashes, and a slash before white space, a parenthesis, a ^ or the end.
//     Other slashes are text: and/or, /usr/bin, /usr/bin/, http://x/.
//
// The engine sends each word through the analyser of the index. It sends a prefix through
// the part of the analyser that changes characters, without stemmer and stop words.
package querylang
