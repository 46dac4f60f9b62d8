package server

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/pprof"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
	"heddle/engine/server/access"
	"heddle/engine/server/bodies"
	"heddle/engine/server/problem"
	"heddle/engine/syntax"
)

// compressFrom is the size in bytes from which replies are compressed, if the client accepts it.
// Compression of smaller replies costs more than it saves.
const compressFrom = 4096

// compressed wraps the plain routes: gzip or zstd, by the header Accept-Encoding. The fastest level
// of either leaves lists of numbers as they are.
var compressed = func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(3), gzhttp.ZstdCompressionLevel(int(zstd.SpeedDefault)),
		gzhttp.ContentTypeFilter(func(kind string) bool { return strings.Contains(kind, "json") })) // other forms of rows are compact
	if err != nil {
		panic(err) // the options are constant
	}
	return wrap
}()

// Handler returns the handler of all routes except administration.
func (s *Server) Handler() http.Handler {
	return s.wrap(s.following(func(body int64) http.Handler {
		mux := s.mux(s.rpc, body, api.IndexServiceName, api.TableServiceName, api.MachineServiceName, api.InspectServiceName)
		s.handle(mux, "POST /v1/indexes/{index}/search/batch", s.searchLines)
		s.addPages(mux)
		s.handle(mux, "GET /v1/indexes/{index}/ready", s.indexReady)
		s.handle(mux, "GET /v1/tables/{table}/ready", s.tableReady)
		return mux
	}), s.opt.Timeout+2*s.opt.Stall, func(path string) access.Role {
		if isProbe(path) || isPage(path) {
			return access.None
		}
		return access.Read
	}, false)
}

// isProbe reports whether all callers may use a path, so that load balancers need no token.
func isProbe(path string) bool {
	return path == "/livez" || path == "/readyz" || isHealth(path) || readiness.MatchString(path)
}

// readiness are the paths of the probes of an index or table; a document may be named ready, too.
var readiness = regexp.MustCompile(`^/v1/(indexes|tables)/[^/]+/ready$`)

// isPage reports whether a path is a file of the web console, which has no data. Browsers open pages
// without a token.
func isPage(path string) bool { return path == "/" || strings.HasPrefix(path, "/console/") }

func isHealth(path string) bool { return strings.HasPrefix(path, "/"+healthService+"/") }

// AdminHandler returns the handler of administration. It belongs on a port that only
// administrators can reach.
func (s *Server) AdminHandler() http.Handler {
	return s.wrap(s.following(func(body int64) http.Handler {
		mux := s.mux(s.admin, body, api.AdminServiceName)
		mux.HandleFunc("POST /v1/admin/indexes/{index}/upload", s.upload)
		mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
		return mux
	}), 0, func(path string) access.Role { // a reload takes its time
		switch {
		case isProbe(path):
			return access.None
		case path == "/metrics":
			return access.Read
		}
		return access.Admin
	}, true)
}

// following returns a handler that is built again when the limit of the size of requests changes.
func (s *Server) following(build func(body int64) http.Handler) http.Handler {
	type built struct {
		body int64
		http.Handler
	}
	var last atomic.Pointer[built]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, body := last.Load(), s.limits().Body
		if h == nil || h.body != body {
			h = &built{body, build(body)}
			last.Store(h)
		}
		h.ServeHTTP(w, r)
	})
}

// formed are the procedures whose answers have the form that the client accepts.
var formed = map[string]func(*Server, http.ResponseWriter, *http.Request, []protoreflect.FieldDescriptor) error{
	api.TableServiceSelectProcedure:    (*Server).selectRoute,
	api.TableServiceAggregateProcedure: (*Server).aggregateRoute,
}

// mux returns the routes of procedures and of the description.
func (s *Server) mux(procedures *connect.Server, body int64, services ...string) *http.ServeMux {
	mux := http.NewServeMux()
	connecthttp.Mount(mux, procedures, connecthttp.WithCompressMinBytes(compressFrom), connecthttp.WithReadMaxBytes(int(body)),
		connecthttp.WithCodecs(bodies.Codecs(problem.Take)...), connecthttp.WithCompressors(bodies.Gzip(s.unpack)))
	for _, service := range services {
		for _, route := range api.Routes(service) {
			if answer := formed[route.Procedure]; answer != nil {
				s.handle(mux, route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) error {
					return answer(s, w, r, route.Variables)
				})
				continue
			}
			s.handle(mux, route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) error {
				x := &exchange{w: w, r: r, variables: route.Variables}
				return procedures.Call(r.Context(), route.Procedure, &connect.CallInfo{PeerAddr: r.RemoteAddr, Protocol: "rest"}, x)
			})
		}
	}
	s.handle(mux, "GET /readyz", s.ready)
	s.handle(mux, "GET /livez", func(w http.ResponseWriter, _ *http.Request) error { return yes(w, nil) })
	s.handle(mux, "GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", bodies.JSON)
		_, err := w.Write(api.OpenAPI)
		return err
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { notFound(mux, w, r) })
	return mux
}

// unpack begins the account of a compressed message of Connect or gRPC, before its request is known.
func (s *Server) unpack() (bodies.Take, func()) {
	memory := s.budget.Open("")
	return func(n int64) error { return problem.Refusal(memory.Take(n)) }, memory.Close
}

// handle adds a route. Its error becomes a problem.
func (s *Server) handle(mux *http.ServeMux, pattern string, f func(http.ResponseWriter, *http.Request) error) {
	mux.Handle(pattern, compressed(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		end, err := bodies.Decode(w, r, s.limits().Body)
		if err == nil {
			defer end()
			err = f(w, r)
		}
		if err != nil {
			if sent, ok := errors.AsType[*connect.Error](err); ok && sent.Unwrap() != nil {
				err = sent.Unwrap() // the chain has described it for Connect
			} else {
				s.count(r.Context(), err)
			}
			problem.Write(w, err)
		}
	})))
}

// notFound answers a request without a route: 405 if another method has one, else 404.
func notFound(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	e, _, _ := problem.Describe(&engine.Error{Code: engine.NotFound, Op: "find route", Err: fmt.Errorf("no route %s %s: see /openapi.json", syntax.Short(r.Method), syntax.Short(r.URL.Path))}, w.Header().Get(problem.RequestHeader))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" && method != r.Method {
			w.Header().Set("Allow", method)
			e.Message = fmt.Sprintf("%s takes %s, not %s", syntax.Short(r.URL.Path), method, syntax.Short(r.Method))
			problem.WriteOf(w, e, http.StatusMethodNotAllowed)
			return
		}
	}
	problem.WriteOf(w, e, http.StatusNotFound)
}

// exchange is a plain HTTP request and its reply as the stream of a procedure.
type exchange struct {
	w         http.ResponseWriter
	r         *http.Request
	variables []protoreflect.FieldDescriptor
}

// Receive implements connect.ServerStream. Documents may come as lines.
func (x *exchange) Receive(msg any) error {
	m := msg.(proto.Message)
	var lines *[]byte
	switch r := msg.(type) {
	case *api.AddDocumentsRequest:
		lines = &r.Lines
	case *api.UpdateDocumentsRequest:
		lines = &r.Lines
	}
	if kind, _, _ := mime.ParseMediaType(x.r.Header.Get("Content-Type")); lines == nil || kind != bodies.Lines {
		return readBody(x.r, m, x.variables)
	}
	var err error
	if *lines, err = io.ReadAll(x.r.Body); err != nil {
		return problem.Unread(err)
	}
	return readVariables(x.r, m, x.variables)
}

func (x *exchange) SendHeaders() error { return nil }

func (x *exchange) Send(msg any) error {
	text := api.AppendJSON(nil, msg.(proto.Message))
	h := x.w.Header()
	h.Set("Content-Type", bodies.JSON)
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	x.w.Write(append(text, '\n')) // an error means that the client has left
	return nil
}

// readBody reads the JSON body of a POST, which may be empty if all fields of the message are variables, and the variables of the path into a message.
func readBody(r *http.Request, m proto.Message, variables []protoreflect.FieldDescriptor) error {
	if r.Method == http.MethodPost {
		text, err := io.ReadAll(r.Body)
		if err == nil && (len(text) > 0 || m.ProtoReflect().Descriptor().Fields().Len() > len(variables)) {
			err = api.ReadJSON(text, m, func(n int64) error { return problem.Take(r.Context(), n) })
		}
		if err != nil {
			return problem.Unread(err)
		}
	}
	if err := readVariables(r, m, variables); err != nil || r.Method != http.MethodGet {
		return err
	}
	return readParameters(r.URL.Query(), m, variables)
}

// readParameters reads the parameters of the query string of a GET: strings and whole numbers.
func readParameters(from url.Values, m proto.Message, variables []protoreflect.FieldDescriptor) error {
	to := m.ProtoReflect()
	for _, name := range slices.Sorted(maps.Keys(from)) {
		f := to.Descriptor().Fields().ByName(protoreflect.Name(name))
		if f == nil || slices.Contains(variables, f) {
			return problem.BadRequest(fmt.Errorf("unknown parameter %s", syntax.Quote(name)))
		}
		if len(from[name]) > 1 {
			return problem.BadRequest(fmt.Errorf("%s: the parameter comes twice", name))
		}
		text, size := from[name][0], 64
		if f.Kind() == protoreflect.StringKind {
			if !utf8.ValidString(text) {
				return problem.BadRequest(fmt.Errorf("%s: %s is not UTF-8", name, syntax.Quote(text)))
			}
			to.Set(f, protoreflect.ValueOfString(text))
			continue
		}
		if f.Kind() == protoreflect.Uint32Kind {
			size = 32
		}
		n, err := strconv.ParseUint(text, 10, size)
		if err != nil {
			return problem.BadRequest(fmt.Errorf("%s: want a whole number from 0 to %d, found %s", name, uint64(1)<<size-1, syntax.Quote(text)))
		}
		if size == 32 {
			to.Set(f, protoreflect.ValueOfUint32(uint32(n)))
		} else {
			to.Set(f, protoreflect.ValueOfUint64(n))
		}
	}
	return nil
}

// readVariables reads the variables of the path into a message.
func readVariables(r *http.Request, m proto.Message, variables []protoreflect.FieldDescriptor) error {
	for _, f := range variables {
		value, to := r.PathValue(string(f.Name())), m.ProtoReflect()
		if !utf8.ValidString(value) {
			return problem.BadRequest(fmt.Errorf("%s: the path has %s, which is not UTF-8", f.Name(), syntax.Quote(value)))
		}
		if given := to.Get(f).String(); given != "" && given != value {
			return problem.BadRequest(fmt.Errorf("%s: the body has %s, and the path has %s", f.Name(), syntax.Quote(given), syntax.Quote(value)))
		}
		to.Set(f, protoreflect.ValueOfString(value))
	}
	return nil
}

// requestID returns the id that a client sent if it is sound, else a random one.
func requestID(sent string) string {
	if len(sent) == 0 || len(sent) > 128 || strings.ContainsFunc(sent, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return rand.Text()
	}
	return sent
}

// acceptable returns the first of the types that the client accepts; "" if it accepts none.
func acceptable(accept string, types []string) string {
	if accept == "" {
		return types[0]
	}
	for part := range strings.SplitSeq(accept, ",") {
		kind, parameters, err := mime.ParseMediaType(part)
		if err != nil || parameters["q"] == "0" {
			continue
		}
		family, any := strings.CutSuffix(kind, "/*")
		for _, t := range types {
			if kind == t || any && (family == "*" || strings.HasPrefix(t, family+"/")) {
				return t
			}
		}
	}
	return ""
}

// accepted returns the type of the answer. If the client accepts none of the types, it returns ""
// and answers with a problem.
func accepted(w http.ResponseWriter, r *http.Request, types []string) string {
	kind := acceptable(r.Header.Get("Accept"), types)
	if kind == "" {
		e, _, _ := problem.Describe(problem.BadRequest(fmt.Errorf("header Accept: want one of %s", strings.Join(types, ", "))), w.Header().Get(problem.RequestHeader))
		problem.WriteOf(w, e, http.StatusNotAcceptable)
	}
	return kind
}
