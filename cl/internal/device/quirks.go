package device

import "strings"

// quirks are the faults of drivers that the host has to mind. Each has its
// reason here and nowhere else.
type quirks struct {
	// memoryLies: PoCL reports the free memory of the machine and enforces no limit. The
	// budget is half of the reported size.
	memoryLies bool
	// maxRoundTiles caps a round. llvmpipe ends loops silently after 65,535
	// iterations of a work-item, nested ones added up, and is slow; Oclgrind
	// interprets.
	maxRoundTiles int
	// noSerial forbids the serial shape: llvmpipe is of type CPU, but a walk of a
	// whole tile by one work-item meets its limit of iterations and then gives
	// wrong counts.
	noSerial bool
	// mixesContexts: before version 7 PoCL counts the uses of a compiled kernel by the hash of
	// its source and options, over all contexts. With two contexts a count may fall below
	// zero, which ends the process.
	mixesContexts bool
}

func quirksFor(platform, dev string) quirks {
	p, d := strings.ToLower(platform), strings.ToLower(dev)
	q := quirks{}
	if strings.Contains(p, "portable computing language") {
		q.memoryLies = true
		q.mixesContexts = true
	}
	if strings.Contains(p, "rusticl") || strings.Contains(d, "llvmpipe") {
		q.memoryLies = true
		q.noSerial = true
		q.maxRoundTiles = 1024
	}
	if strings.Contains(p, "oclgrind") {
		q.maxRoundTiles = 64
	}
	return q
}

func (q quirks) apply(t Tuning) Tuning {
	if q.maxRoundTiles > 0 {
		t.RoundTiles = min(t.RoundTiles, q.maxRoundTiles)
	}
	if q.noSerial {
		t.Serial = false
	}
	t.LookBack = t.LookBack && !t.Serial // the serial shape has no such kernels
	return t
}
