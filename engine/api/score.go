package api

import (
	"strings"

	"heddle/engine"
)

// ScoreMessage is the message of the score of a document with a name and a number.
func ScoreMessage(w *engine.ScoreExplanation, name string, id uint64) *ScoreExplanation {
	valid := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
	out := &ScoreExplanation{Doc: valid(name), Id: id, Score: w.Score, Documents: w.Docs, MeanLength: w.MeanLength}
	if p := w.Scoring; p != nil {
		out.Scoring = &Scoring{Variant: p.Variant.String(), K1: &p.K1, B: &p.B}
	}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, &ScorePart{
			Term: valid(p.Term), Boost: p.Boost, Documents: p.Documents, Weight: p.Weight, Frequency: p.Frequency,
			Length: p.Length, MeanLength: p.MeanLength, Tf: p.TF, Score: p.Score,
		})
	}
	return out
}
