// Package pgtest gives tests a real PostgreSQL: one server for a test binary, and
// a database of its own for each test. WEIR_TEST_POSTGRES, a DSN of a role that
// may create databases, uses a server that is there already.
package pgtest

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/internal/devpg"
)

// startTimeout bounds a start, the download of the binaries included.
const startTimeout = 5 * time.Minute

// shared is the server of this test binary. It is package state because the
// tests of one binary have nothing else in common; Main or Stop ends its life.
var shared struct {
	sync.Mutex
	server *devpg.Server
	count  atomic.Int64
}

// Main runs the tests, stops the shared server and ends the process.
func Main(m *testing.M) { os.Exit(Stop(m.Run())) }

// Stop stops the shared server, if there is one, for test binaries that have
// other things to stop. It returns the exit code of the tests, or 1.
func Stop(code int) int {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest:", err)
		return max(code, 1)
	}
	return code
}

// Database makes an empty database and returns its address. It fails the test if
// there is no PostgreSQL to be had.
func Database(t testing.TB) string {
	t.Helper()
	admin := address(t)
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), shared.count.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	u.Path = "/" + name
	return u.String()
}

// address is that of the server, as a URL.
func address(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv("WEIR_TEST_POSTGRES"); dsn != "" {
		return dsn
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
		defer cancel()
		server, err := devpg.Start(ctx, devpg.Options{Log: slog.Default()})
		if err != nil {
			t.Fatalf("pgtest: %v", err)
		}
		shared.server = server
	}
	return shared.server.DSN("postgres")
}
