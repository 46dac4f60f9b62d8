package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"heddle/engine"
	"heddle/engine/api"
)

// compressFrom is the size in bytes from which replies of Connect and gRPC are compressed, if the
// client accepts it. Compression of smaller replies costs more than it saves.
const compressFrom = 4096

// Handler returns the handler of all routes except administration.
func (s *Server) Handler() http.Handler {
	mux := s.mux(s.rpc, api.IndexServiceName, api.TableServiceName, api.MachineServiceName)
	handle(mux, "POST /v1/indexes/{index}/search/batch", s.searchLines)
	handle(mux, "GET /v1/indexes/{index}/ready", s.indexReady)
	handle(mux, "GET /readyz", s.ready)
	return s.wrap(mux, s.opt.Timeout+2*s.opt.Stall)
}

// AdminHandler returns the handler of administration. It belongs on a port that only
// administrators can reach.
func (s *Server) AdminHandler() http.Handler {
	return s.wrap(s.mux(s.admin, api.AdminServiceName), 0) // a reload takes its time
}

// mux returns the routes of procedures and of the description.
func (s *Server) mux(procedures *connect.Server, services ...string) *http.ServeMux {
	mux := http.NewServeMux()
	connecthttp.Mount(mux, procedures, connecthttp.WithCompressMinBytes(compressFrom), connecthttp.WithReadMaxBytes(int(s.opt.Limits.Body)))
	for _, service := range services {
		for _, route := range api.Routes(service) {
			if route.Procedure == api.TableServiceSelectProcedure {
				handle(mux, route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) error {
					return s.selectRoute(w, r, route.Variables)
				})
				continue
			}
			handle(mux, route.Method+" "+route.Path, func(w http.ResponseWriter, r *http.Request) error {
				x := &exchange{w: w, r: r, variables: route.Variables}
				return procedures.Call(r.Context(), route.Procedure, &connect.CallInfo{PeerAddr: r.RemoteAddr}, x)
			})
		}
	}
	handle(mux, "GET /livez", func(w http.ResponseWriter, _ *http.Request) error { return yes(w, nil) })
	handle(mux, "GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", typeJSON)
		_, err := w.Write(api.OpenAPI)
		return err
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { notFound(mux, w, r) })
	return mux
}

// handle adds a route. Its error becomes a problem.
func handle(mux *http.ServeMux, pattern string, f func(http.ResponseWriter, *http.Request) error) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if err := f(w, r); err != nil {
			if sent, ok := errors.AsType[*connect.Error](err); ok && sent.Unwrap() != nil {
				err = sent.Unwrap() // the chain has described it for Connect
			}
			writeProblem(w, err)
		}
	})
}

// notFound answers a request without a route: 405 if another method has one, else 404.
func notFound(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	e, _, _ := describe(&engine.Error{Code: engine.NotFound, Op: "find route", Err: fmt.Errorf("no route %s %s: see /openapi.json", r.Method, r.URL.Path)}, w.Header().Get(requestHeader))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" && method != r.Method {
			w.Header().Set("Allow", method)
			e.Message = fmt.Sprintf("%s takes %s, not %s", r.URL.Path, method, r.Method)
			writeProblemOf(w, e, http.StatusMethodNotAllowed)
			return
		}
	}
	writeProblemOf(w, e, http.StatusNotFound)
}

// exchange is a plain HTTP request and its reply as the stream of a procedure.
type exchange struct {
	w         http.ResponseWriter
	r         *http.Request
	variables []protoreflect.FieldDescriptor
}

func (x *exchange) Receive(msg any) error { return readBody(x.r, msg.(proto.Message), x.variables) }

func (x *exchange) SendHeaders() error { return nil }

func (x *exchange) Send(msg any) error {
	text := api.AppendJSON(nil, msg.(proto.Message))
	h := x.w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Content-Length", strconv.Itoa(len(text)+1))
	x.w.Write(append(text, '\n')) // an error means that the client has left
	return nil
}

// readBody reads the JSON body of a POST and the variables of the path into a message.
func readBody(r *http.Request, m proto.Message, variables []protoreflect.FieldDescriptor) error {
	if r.Method == http.MethodPost {
		if err := api.ReadJSON(r.Body, m); err != nil {
			return unread(err)
		}
	}
	for _, f := range variables {
		value, to := r.PathValue(string(f.Name())), m.ProtoReflect()
		if given := to.Get(f).String(); given != "" && given != value {
			return badRequest(fmt.Errorf("%s: the body has %q, and the path has %q", f.Name(), given, value))
		}
		to.Set(f, protoreflect.ValueOfString(value))
	}
	return nil
}

// unread returns the error of a body that cannot be read.
func unread(err error) error {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &LimitError{"body", uint64(large.Limit)}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &engine.Error{Code: engine.Deadline, Op: "read request", Err: err}
	}
	return badRequest(err)
}

const requestHeader = "X-Request-Id"

// requestKey is the key of the request id in a context.
type requestKey struct{}

// wrap adds the parts that all routes share: request id, size of the body, time of the reply (0 is
// no limit), refusal of requests from foreign web pages, recovery from a panic.
func (s *Server) wrap(mux http.Handler, most time.Duration) http.Handler {
	foreign := http.NewCrossOriginProtection()
	foreign.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e, _, _ := describe(badRequest(errors.New("a web page of another origin sent the request")), "")
		writeProblemOf(w, e, http.StatusForbidden)
	}))
	return foreign.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := requestID(r.Header.Get(requestHeader))
		w.Header().Set(requestHeader, id)
		var deadline time.Time                                                 // none
		if most > 0 && !strings.HasPrefix(r.URL.Path, "/"+healthService+"/") { // Watch has no end
			deadline = time.Now().Add(most)
		}
		http.NewResponseController(w).SetWriteDeadline(deadline) // writers of tests have no deadlines
		defer func() {
			if p := recover(); p != nil {
				s.opt.Log.Error().Str("request_id", id).Interface("panic", p).Bytes("stack", debug.Stack()).Msg("request failed")
				panic(http.ErrAbortHandler)
			}
		}()
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		r.Body = http.MaxBytesReader(w, r.Body, s.opt.Limits.Body)
		mux.ServeHTTP(w, r)
	}))
}

// requestID returns the id that a client sent if it is sound, else a random one.
func requestID(sent string) string {
	if len(sent) == 0 || len(sent) > 128 || strings.ContainsFunc(sent, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return rand.Text()
	}
	return sent
}

// host returns the host of an address with a port.
func host(address string) string {
	h, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return h
}
