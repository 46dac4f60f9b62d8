package coordinator

import (
	"fmt"
	"strings"

	"heddle/engine/internal/part"
)

// explain sets the explanation of a query.
func (s *search) explain(i int, pieces []Piece[*part.Answer]) {
	if !s.ask.Explain {
		return
	}
	answers := make([]string, len(s.Layout.Shards))
	for _, p := range pieces {
		answers[p.Shards[0]] = p.Answer.Explanation
		s.hits[i].Queued = max(s.hits[i].Queued, p.Answer.Queued)
	}
	s.hits[i].Explanation = Explain(answers)
}

// Explain joins the explanations of shards; empty for none.
func Explain(answers []string) string {
	var b strings.Builder
	for i, text := range answers {
		if text != "" {
			fmt.Fprintf(&b, "shard %d:\n%s", i, text)
			if !strings.HasSuffix(text, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
