package problem

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"heddle/engine"
	"heddle/engine/syntax"
)

// TestStatuses checks the status of each code of the engine.
func TestStatuses(t *testing.T) {
	for code := engine.InvalidQuery; code <= engine.Internal; code++ {
		w := httptest.NewRecorder()
		w.Header().Set(RequestHeader, "id")
		Write(w, fmt.Errorf("so: %w", &engine.Error{Code: code, Op: "search", Err: errors.New("reason")}))
		if known := statuses[code]; w.Code != known.http || known.rpc == 0 || !strings.Contains(w.Body.String(), `"code":"`+code.String()+`"`) {
			t.Errorf("%s: %d %s", code, w.Code, w.Body)
		}
	}
	for err, want := range map[error]int{
		&engine.Error{Code: engine.Overloaded, Err: errors.New("full")}: http.StatusTooManyRequests,
		&engine.Error{Code: engine.Deadline, Err: errors.New("late")}:   http.StatusGatewayTimeout,
		&engine.Error{Code: engine.NoDevice, Err: errors.New("none")}:   http.StatusServiceUnavailable,
		&LimitError{Limit: "k", Max: 7}:                                 http.StatusRequestEntityTooLarge,
		&syntax.Error{Text: "a", Reason: "wrong"}:                       http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		if Write(w, err); w.Code != want || (w.Header().Get("Retry-After") != "") != (want == http.StatusTooManyRequests) {
			t.Errorf("%v: %d %v", err, w.Code, w.Header())
		}
	}
}
