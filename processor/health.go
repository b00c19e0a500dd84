package processor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/weirstream/weir/eos"
)

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// Ready says whether the application takes part: the group has accepted this
// member and nothing fatal has happened. A member with no partition, since the
// group has more members than partitions, is ready. The reason is empty when it
// is.
func (a *App) Ready() (ready bool, reason string) {
	switch {
	case a.fatal.Load():
		return false, "stopped by an error"
	case !a.joined():
		return false, "not a member of the group"
	}
	return true, ""
}

// engines are those of the transforms and of the deliveries.
func (a *App) engines() []*eos.Engine {
	if a.delivery == nil || a.delivery.engine == nil {
		return []*eos.Engine{a.engine}
	}
	return []*eos.Engine{a.engine, a.delivery.engine}
}

// joined says whether every group of the application has accepted this process.
func (a *App) joined() bool {
	return !slices.ContainsFunc(a.engines(), func(e *eos.Engine) bool { return !e.Status().Joined })
}

// partitions are those that this process owns.
func (a *App) partitions() []eos.PartitionStatus {
	var all []eos.PartitionStatus
	for _, e := range a.engines() {
		all = append(all, e.Status().Partitions...)
	}
	return all
}

// health answers for the processes that watch this one.
type health struct {
	app *App
	mu  struct {
		sync.Mutex
		stuck
		longest time.Duration
	}
}

// watch looks at the workers once a second until ctx ends.
func (h *health) watch(ctx context.Context) {
	for pause(ctx, time.Second) {
		h.mu.Lock()
		h.mu.longest = h.mu.look(h.app.workers, time.Now())
		h.mu.Unlock()
	}
}

// live fails when the process has to be restarted: it ended with an error, or a
// record is being worked on for too long. Brokers that cannot be reached do not
// count: a restart would not help. Reading the status takes every lane's lock,
// so a deadlock shows as no answer.
func (h *health) live() string {
	h.app.joined()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.app.fatal.Load():
		return "stopped by an error"
	case h.mu.longest > h.app.cfg.stuckAfter:
		return fmt.Sprintf("a record is worked on since %v", h.mu.longest.Round(time.Second))
	}
	return ""
}

func (h *health) handler() http.Handler {
	mux := http.NewServeMux()
	text := func(path string, body func() (int, string)) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			code, s := body()
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, s+"\n") // the client is gone: nothing to do
		})
	}
	state := func(reason string) (int, string) {
		if reason != "" {
			return http.StatusServiceUnavailable, reason
		}
		return http.StatusOK, "ok"
	}
	text("/livez", func() (int, string) { return state(h.live()) })
	text("/readyz", func() (int, string) { _, reason := h.app.Ready(); return state(reason) })
	text("/topology", func() (int, string) { return http.StatusOK, h.app.Describe() })
	text("/topology.mmd", func() (int, string) { return http.StatusOK, h.app.Mermaid() })
	mux.Handle("GET /metrics", promhttp.HandlerFor(h.app.reg, promhttp.HandlerOpts{}))
	return mux
}

// serveHTTP serves until ctx ends; g waits for it.
func (a *App) serveHTTP(ctx context.Context, g *errgroup.Group) error {
	if a.cfg.httpAddr == "" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.httpAddr)
	if err != nil {
		return badConfig(fmt.Errorf("http address: %w", err))
	}
	h := &health{app: a}
	server := &http.Server{Handler: h.handler(), ReadHeaderTimeout: 5 * time.Second}
	a.log.Info("serving health and metrics", "addr", listener.Addr().String())
	g.Go(func() error { h.watch(ctx); return nil })
	g.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return badConfig(fmt.Errorf("http server: %w", err))
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return nil
}
