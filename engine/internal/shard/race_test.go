//go:build race

package shard

const raceDetector = true
