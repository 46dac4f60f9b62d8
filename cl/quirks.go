package cl

import "strings"

// quirks are the faults of drivers that the host has to mind. Each has its
// reason here and nowhere else.
type quirks struct {
	// memoryLies: PoCL reports what is free on the machine and enforces nothing;
	// the host keeps its own budget, a half of what is reported.
	memoryLies bool
	// maxScanWG caps the work-group of the scan: llvmpipe ends loops silently
	// after 65,535 iterations of a work-item, and its barriers are slow.
	maxScanWG int
	// maxRoundTiles keeps loops of one work-item under that limit: the scan
	// walks round_tiles/SCAN_WG tiles a work-item.
	maxRoundTiles int
}

func quirksFor(platform, device string) quirks {
	p, d := strings.ToLower(platform), strings.ToLower(device)
	q := quirks{}
	if strings.Contains(p, "portable computing language") {
		q.memoryLies = true
	}
	if strings.Contains(p, "rusticl") || strings.Contains(d, "llvmpipe") {
		q.memoryLies = true
		q.maxScanWG = 128
		q.maxRoundTiles = 1024
	}
	if strings.Contains(p, "oclgrind") {
		// Oclgrind interprets: keep buffers and launches small.
		q.maxRoundTiles = 64
		q.maxScanWG = 64
	}
	return q
}

func (q quirks) apply(t Tuning) Tuning {
	if q.maxScanWG > 0 {
		t.ScanWG = min(t.ScanWG, q.maxScanWG)
	}
	if q.maxRoundTiles > 0 {
		t.RoundTiles = min(t.RoundTiles, q.maxRoundTiles)
	}
	return t
}
