//go:build race

package hostfallback

const raceDetector = true
