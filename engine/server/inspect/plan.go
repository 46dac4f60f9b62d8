package inspect

import (
	"context"
	"fmt"

	"heddle/engine/api"
	"heddle/engine/observe"
)

// plan describes the way of a query as a tree: the steps from arrival to answer, the stages of the processor and, in
// the end, the inputs of the kernels.
func (s *Service) plan(ctx context.Context, e *observe.Explanation, expression, algorithm string, inputs ...*api.Step) *api.Step {
	root := &api.Step{Name: e.Kind, Detail: valid(expression), Ms: ms(e.Took)}
	add := func(to *api.Step, steps ...*api.Step) { to.Steps = append(to.Steps, steps...) }
	if e.Cached {
		add(root, &api.Step{Name: "cache of answers", Detail: "no processor ran"})
	} else {
		add(root, &api.Step{Name: "queue", Detail: fmt.Sprintf("scheduled %s, class %s", e.Mode, e.Class), Ms: ms(e.Queued)})
		if e.Filter != nil {
			add(root, &api.Step{Name: "filter", Detail: valid(e.Filter.String())})
		}
		if e.Attempts > 0 {
			add(root, s.processor(ctx, e, algorithm, inputs))
		}
	}
	if e.Order != "" {
		add(root, &api.Step{Name: "order", Detail: valid(e.Order) + ", in pure Go"})
	}
	return root
}

// processor describes the last attempt.
func (s *Service) processor(ctx context.Context, e *observe.Explanation, algorithm string, inputs []*api.Step) *api.Step {
	st := &e.Stats
	run := &api.Step{Name: valid(e.Processor), Detail: "alone", Ms: ms(e.Ran)}
	if e.Batch > 1 {
		run.Detail = fmt.Sprintf("in a batch of %d", e.Batch)
	}
	run.Detail += fmt.Sprintf(", estimated %v", observe.Round(e.Estimate))
	add := func(steps ...*api.Step) { run.Steps = append(run.Steps, steps...) }
	if algorithm != "" {
		add(&api.Step{Name: "algorithm", Detail: valid(algorithm)})
	}
	if e.Missing > 0 {
		add(&api.Step{Name: "lists brought in", Bytes: e.Missing})
	}
	if st.BytesUp > 0 || st.Upload > 0 {
		add(&api.Step{Name: "upload", Ms: ms(st.Upload), Bytes: st.BytesUp})
	}
	if st.Kernel() > 0 || st.BytesMoved > 0 {
		add(s.kernels(ctx, e))
	}
	add(inputs...)
	if st.BytesDown > 0 || st.Download > 0 {
		add(&api.Step{Name: "download", Ms: ms(st.Download), Bytes: st.BytesDown})
	}
	return run
}

// kernels describes the kernels of a run. Without their share of the copy rate it says why.
func (s *Service) kernels(ctx context.Context, e *observe.Explanation) *api.Step {
	st := &e.Stats
	step := &api.Step{Name: "kernels", Ms: ms(st.Kernel()), Bytes: st.BytesMoved}
	for name, took := range observe.Stages(st) {
		if name != "upload" && name != "download" {
			step.Steps = append(step.Steps, &api.Step{Name: name, Ms: ms(took)})
		}
	}
	switch {
	case st.BytesMoved == 0:
		step.Detail = "bytes are not counted: devices.count_loads"
	case st.Kernel() == 0:
		step.Detail = "times are not measured: devices.profiling"
	default:
		if peak := s.copyRate(ctx, e.Processor); peak > 0 {
			step.Peak = float64(st.BytesMoved) / st.Kernel().Seconds() / peak
		} else {
			step.Detail = "the copy rate of the device is not known"
		}
	}
	return step
}

// postingLists describes the posting lists of a query.
func postingLists(all []*api.PostingList) *api.Step {
	lists := &api.Step{Name: "lists", Detail: fmt.Sprintf("%d posting lists", len(all))}
	for _, l := range all {
		detail := fmt.Sprintf("%d documents, codec %s", l.Documents, l.Codec)
		if l.Method != "" {
			detail += "; " + l.Method
		}
		lists.Bytes += l.Bytes
		lists.Steps = append(lists.Steps, &api.Step{Name: l.Term, Detail: detail, Bytes: l.Bytes})
	}
	return lists
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
