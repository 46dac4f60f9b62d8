package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rs/cors"

	"heddle/engine"
	"heddle/engine/server/problem"
)

// pages rules which web pages may call a handler: those of the server itself, and those of the given origins, which
// see its replies by CORS (https://fetch.spec.whatwg.org/#http-cors-protocol). All answers a preflight and passes
// other requests on; checked refuses requests of other pages.
type pages struct{ origins *cors.Cors }

func pagesOf(origins []string) pages {
	if len(origins) == 0 {
		return pages{}
	}
	return pages{cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete},
		AllowedHeaders: []string{"Authorization", "Content-Type", problem.RequestHeader,
			"Connect-Protocol-Version", "Connect-Timeout-Ms", "Grpc-Timeout", "X-Grpc-Web", "X-User-Agent"},
		ExposedHeaders: []string{problem.RequestHeader, "Retry-After", "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"},
		MaxAge:         int((2 * time.Hour).Seconds()), // browsers keep it no longer
	})}
}

func (p pages) all(next http.Handler) http.Handler {
	if p.origins == nil {
		return next
	}
	return p.origins.Handler(next)
}

func (p pages) checked(next http.Handler) http.Handler {
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		problem.Write(w, &engine.Error{Code: engine.Forbidden, Op: "check access", Err: errors.New("a web page of another origin sent the request: see server.origins")})
	}))
	own := foreign.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.origins != nil && p.origins.OriginAllowed(r) {
			next.ServeHTTP(w, r)
			return
		}
		own.ServeHTTP(w, r)
	})
}

// checkOrigin reports whether a text is SCHEME://HOST[:PORT], where one * stands for any text, or * alone.
func checkOrigin(origin string) error {
	u, err := url.Parse(strings.Replace(origin, "*", "any", 1))
	if origin != "*" && (err != nil || u.Scheme+"://"+u.Host != u.String() || u.Scheme == "" || u.Hostname() == "" || strings.Contains(u.Host, "*")) {
		return fmt.Errorf("origin %q: want SCHEME://HOST or SCHEME://HOST:PORT, with one * at most, or *", origin)
	}
	return nil
}
