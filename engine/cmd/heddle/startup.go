package main

import (
	"path/filepath"

	"heddle/config"
	"heddle/engine/internal/startup"
)

// startups returns the file of start-up times of devices.
func (a *App) startups() startup.Cache {
	folder := a.cacheFolder()
	if folder == "" {
		return startup.Cache{}
	}
	return startup.NewCache(filepath.Join(folder, "startup.json"))
}

// choose replaces the backend auto of a short-lived command by host if the host should
// finish before a device has started. It returns the reason, or "" for other backends.
func (a *App) choose(c *config.Config, work func(device string) (startup.Work, error)) string {
	if c.Devices.Backend != "auto" || c.Devices.Device != "" {
		return ""
	}
	record := a.startups().Recall()
	w, err := work(record.Device)
	if err != nil { // opening the file or running the queries reports the error
		c.Devices.Backend = "host"
		return ""
	}
	choice := startup.Choose(w, record)
	if choice.Host {
		c.Devices.Backend = "host"
	}
	return choice.String()
}
