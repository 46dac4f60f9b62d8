// Package tune measures a device and chooses its tuning row: a search along one knob after the
// other, part by part. Package cl passes a function that opens the device with all operations.
package tune
