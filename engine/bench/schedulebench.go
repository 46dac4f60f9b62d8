package bench

import (
	"context"
	"io"
)

// Schedule measures an engine under load, all processors together, and reproduces what
// papers measured of that: opt.Figures and opt.Tables, of ScheduleExhibits. Else it is
// as Lists.
func Schedule(ctx context.Context, opt Options, stdout, stderr io.Writer) error {
	return reproduce(ctx, "schedule", scheduleExhibits(), opt, stdout, stderr)
}

// ScheduleExhibits describes what Schedule reproduces, as ListsExhibits does.
func ScheduleExhibits() []string { return headings(scheduleExhibits()) }

// CheckSchedule reports names in opt.Figures and opt.Tables that are none of Schedule.
func CheckSchedule(opt Options) error { return check(scheduleExhibits(), opt) }

// scheduleExhibits are those of Schedule, in the order in which they run.
func scheduleExhibits() []exhibit {
	return append([]exhibit{dingFigure7(), capacityExhibit(), overheadExhibit(), predictionExhibit(), choiceExhibit(), devicesExhibit()},
		wuExhibits()...)
}
