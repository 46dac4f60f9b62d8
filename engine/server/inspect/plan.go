package inspect

import (
	"context"
	"fmt"

	"heddle/engine/api"
	"heddle/engine/observe"
)

// plan describes the way of a query as a tree: the steps from arrival to answer, the stages of the processor, the lists.
func (s *Service) plan(ctx context.Context, e *observe.Explanation, out *api.InspectSearchResponse) *api.Step {
	root := &api.Step{Name: e.Kind, Detail: valid(out.Expression), Ms: ms(e.Took)}
	add := func(to *api.Step, steps ...*api.Step) { to.Steps = append(to.Steps, steps...) }
	if e.Cached {
		add(root, &api.Step{Name: "cache of answers", Detail: "no processor ran"})
	} else {
		add(root, &api.Step{Name: "queue", Detail: fmt.Sprintf("scheduled %s, class %s", e.Mode, e.Class), Ms: ms(e.Queued)})
		if e.Filter != nil {
			add(root, &api.Step{Name: "filter", Detail: valid(e.Filter.String())})
		}
		if e.Attempts > 0 {
			add(root, s.processor(ctx, e, out))
		}
	}
	if e.Order != "" {
		add(root, &api.Step{Name: "order", Detail: valid(e.Order) + ", in pure Go"})
	}
	return root
}

// processor describes the last attempt.
func (s *Service) processor(ctx context.Context, e *observe.Explanation, out *api.InspectSearchResponse) *api.Step {
	st := &e.Stats
	run := &api.Step{Name: valid(e.Processor), Detail: "alone", Ms: ms(e.Ran)}
	if e.Batch > 1 {
		run.Detail = fmt.Sprintf("in a batch of %d", e.Batch)
	}
	run.Detail += fmt.Sprintf(", estimated %v", observe.Round(e.Estimate))
	add := func(step *api.Step) { run.Steps = append(run.Steps, step) }
	if out.Algorithm != "" {
		add(&api.Step{Name: "algorithm", Detail: valid(out.Algorithm)})
	}
	if e.Missing > 0 {
		add(&api.Step{Name: "lists brought in", Bytes: e.Missing})
	}
	kernels := &api.Step{Name: "kernels", Ms: ms(st.Kernel()), Bytes: st.BytesMoved}
	if st.BytesMoved > 0 && st.Kernel() > 0 {
		if peak := s.copyRate(ctx, e.Processor); peak > 0 {
			kernels.Peak = float64(st.BytesMoved) / st.Kernel().Seconds() / peak
		}
	}
	for name, took := range observe.Stages(st) {
		if name != "upload" && name != "download" {
			kernels.Steps = append(kernels.Steps, &api.Step{Name: name, Ms: ms(took)})
		}
	}
	if st.BytesUp > 0 || st.Upload > 0 {
		add(&api.Step{Name: "upload", Ms: ms(st.Upload), Bytes: st.BytesUp})
	}
	if kernels.Ms > 0 || kernels.Bytes > 0 {
		add(kernels)
	}
	lists := &api.Step{Name: "lists", Detail: fmt.Sprintf("%d posting lists", len(out.Lists))}
	for _, l := range out.Lists {
		detail := fmt.Sprintf("%d documents, codec %s", l.Documents, l.Codec)
		if l.Method != "" {
			detail += "; " + l.Method
		}
		lists.Bytes += l.Bytes
		lists.Steps = append(lists.Steps, &api.Step{Name: l.Term, Detail: detail, Bytes: l.Bytes})
	}
	add(lists)
	if st.BytesDown > 0 || st.Download > 0 {
		add(&api.Step{Name: "download", Ms: ms(st.Download), Bytes: st.BytesDown})
	}
	if st.PhraseCandidates > 0 {
		add(&api.Step{Name: "phrases", Detail: observe.Phrases(st)})
	}
	return run
}

// copyRate is the rate at which a processor copies its memory, in bytes per second; 0 if it cannot tell. It is measured
// once, when a query first needs it.
func (s *Service) copyRate(ctx context.Context, processor string) float64 {
	s.copying.Lock()
	defer s.copying.Unlock()
	if rate, ok := s.copies[processor]; ok {
		return rate
	}
	e, err := s.Engine()
	if err != nil {
		return 0
	}
	for i, p := range e.Processors() {
		if p.Name != processor {
			continue
		}
		rate, err := e.CopyPeak(ctx, i)
		if err != nil {
			return 0
		}
		if s.copies == nil {
			s.copies = map[string]float64{}
		}
		s.copies[processor] = rate
		return rate
	}
	return 0
}
