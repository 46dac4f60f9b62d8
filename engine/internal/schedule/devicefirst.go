package schedule

// deviceFirst is the fail-over of an active and a standby machine (Gray and Siewiorek 1991, section
// on process pairs): devices run all jobs that they can, and the host runs the rest. A device that is
// free takes all waiting jobs of a kind, up to its threshold, in one batch.
type deviceFirst struct{}

func newDeviceFirst(*Options, int) Policy { return deviceFirst{} }

// Mode implements Policy.
func (deviceFirst) Mode() Mode { return Sync }

// Place implements Policy: the class is Device if a device can run j. The fastest processor of the class
// begins an arriving job alone, if it is free.
func (deviceFirst) Place(j *Job, v *view) *processor {
	best := v.fastest(j, Device)
	if best == nil {
		best = v.fastest(j, Host)
	}
	j.Trace.Class, j.similarCost = best.class, never
	if j.Mode == Sync || !v.placeable(j, best) {
		return nil
	}
	return best
}

// Next implements Policy: p takes the jobs of its class.
func (deviceFirst) Next(p *processor, t turn, j *Job, v *view) decision {
	if t == idle || j.Trace.Class != p.class || !v.eligible(j, p.index) {
		return decision{}
	}
	return decision{mode: v.modeOf(j.kindQueue)}
}

// Block implements Policy: the host takes blocks if no device can.
func (deviceFirst) Block(p *processor, t *stream, v *view) int { return devicesBlock(p, t, v) }

// Done implements Policy.
func (deviceFirst) Done(*Batch, *view) {}

// devicesBlock is the size of a block where devices share a call, or hosts if no device can run it.
func devicesBlock(p *processor, t *stream, v *view) int {
	devices := v.takers(t, Device)
	if p.class == Host && devices > 0 {
		return 0
	}
	return guidedBlock(t, max(devices, v.takers(t, p.class)))
}

// guidedBlock is the size of a block where a number of like processors share the rest of a call, so
// that they end together (guided self-scheduling, Polychronopoulos and Kuck 1987).
func guidedBlock(t *stream, takers int) int {
	return max(minBlock, t.Left()/(guidedDivisor*max(takers, 1)))
}

// guidedDivisor is the number of blocks into which a processor divides its part of the rest of a call.
// minBlock is the number of queries below which a block is no further divided.
const guidedDivisor, minBlock = 4, 64
