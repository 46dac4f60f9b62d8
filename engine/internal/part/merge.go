package part

// Merger walks the documents of several answers in the order of the whole: the best score first, and of
// equal scores, or without scores, the least number.
type Merger struct {
	answers []*Answer
	number  func(answer int, at uint64) uint64
	heads   []head
	// Compare orders two documents by their places in answers, except for ties, which are in the order of their
	// numbers. Default: nil, the descending score.
	Compare func(a int, at uint64, b int, bt uint64) int
}

// head is the next document of an answer.
type head struct {
	at, end uint64
	number  uint64
	score   float64
}

// NewMerger returns a merger. Number returns the number of a document in the whole; the documents of an
// answer with equal scores must ascend.
func NewMerger(answers []*Answer, number func(answer int, at uint64) uint64) *Merger {
	return &Merger{answers: answers, number: number, heads: make([]head, len(answers))}
}

// Query moves to the documents of query n, and returns how many there are.
func (m *Merger) Query(n int) (total uint64) {
	for i, a := range m.answers {
		h := head{end: a.Ends[n]}
		if n > 0 {
			h.at = a.Ends[n-1]
		}
		total += h.end - h.at
		m.heads[i] = h
		m.look(i)
	}
	return total
}

// look reads the next document of an answer.
func (m *Merger) look(i int) {
	h := &m.heads[i]
	if h.at == h.end {
		return
	}
	h.number = m.number(i, h.at)
	if scores := m.answers[i].Scores; len(scores) > 0 {
		h.score = scores[h.at]
	}
}

// Next returns the place of the next document of the query in an answer, its number and its score. There
// must be one.
func (m *Merger) Next() (answer int, at, number uint64, score float64) {
	answer = -1
	for i := range m.heads {
		h := &m.heads[i]
		if h.at == h.end {
			continue
		}
		before := answer < 0 || h.score > score || h.score == score && h.number < number
		if answer >= 0 && m.Compare != nil {
			c := m.Compare(i, h.at, answer, at)
			before = c < 0 || c == 0 && h.number < number
		}
		if before {
			answer, at, number, score = i, h.at, h.number, h.score
		}
	}
	m.heads[answer].at++
	m.look(answer)
	return answer, at, number, score
}
