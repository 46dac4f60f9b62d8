package main

import (
	"context"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows/svc"
)

// run runs the command. As a service of Windows, it reports to the service manager, ends when the service is
// stopped, and appends its output to heddle\heddle.log in the folder of program data.
func run(ctx context.Context, app *App, args []string) int {
	if is, err := svc.IsWindowsService(); err != nil || !is {
		return app.Run(ctx, args)
	}
	path := filepath.Join(os.Getenv("ProgramData"), "heddle", "heddle.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return exitFailure
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return exitFailure
	}
	defer log.Close()
	app.Stdout, app.Stderr = log, log
	s := &service{run: func(ctx context.Context) int { return app.Run(ctx, args) }, ctx: ctx}
	if err := svc.Run("heddle", s); err != nil {
		return exitFailure
	}
	return s.code
}

type service struct {
	ctx  context.Context
	run  func(context.Context) int
	code int // exit code of run
}

// Execute runs until the command ends.
func (s *service) Execute(_ []string, requests <-chan svc.ChangeRequest, status chan<- svc.Status) (specific bool, code uint32) {
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	ended := make(chan int, 1)
	go func() { ended <- s.run(ctx) }()
	status <- svc.Status{State: svc.Running, Accepts: svc.AcceptStop | svc.AcceptShutdown}
	for {
		select {
		case s.code = <-ended:
			return true, uint32(s.code)
		case r := <-requests:
			switch r.Cmd {
			case svc.Interrogate:
				status <- r.CurrentStatus
			case svc.Stop, svc.Shutdown:
				status <- svc.Status{State: svc.StopPending}
				stop()
			}
		}
	}
}
