//go:build !race

package hostfallback

const raceDetector = false
