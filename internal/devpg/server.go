package devpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirstream/weir/internal/childproc"
)

// Options shape a server. The zero value serves tests.
type Options struct {
	// Config overrides settings of the server: name -> value.
	Config map[string]string
	// Log is for downloads; default: slog.Default().
	Log *slog.Logger
}

// Server is a running PostgreSQL. Its methods may be called from any goroutine.
type Server struct {
	bin, dir string
	port     int
	config   map[string]string
	as       *syscall.Credential // nil: this user

	mu   sync.Mutex
	proc *childproc.Process // nil when it does not run
	// gone ends when the server and every process it forked have: each holds the
	// other end of this pipe.
	gone *os.File
}

const (
	startTimeout = time.Minute
	stopTimeout  = 30 * time.Second
	poll         = 50 * time.Millisecond
	superuser    = "postgres"
)

// Start makes a server with an empty database cluster and waits until it
// answers. After nil the caller must call Stop.
func Start(ctx context.Context, o Options) (*Server, error) {
	log := o.Log
	if log == nil {
		log = slog.Default()
	}
	bin, err := Binaries(ctx, log)
	if err != nil {
		return nil, err
	}
	s := &Server{bin: filepath.Join(bin, "bin"), config: o.Config}
	if err = s.prepare(ctx); err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// prepare makes the folder and the database cluster in it.
func (s *Server) prepare(ctx context.Context) error {
	ports, err := childproc.FreePorts(ctx, 1)
	if err != nil {
		return fmt.Errorf("devpg: %w", err)
	}
	s.port = ports[0]
	if s.dir, err = os.MkdirTemp("", "weir-pg-"); err != nil {
		return fmt.Errorf("devpg: %w", err)
	}
	if os.Getuid() == 0 {
		if s.as, err = nobody(); err == nil {
			err = os.Chown(s.dir, int(s.as.Uid), int(s.as.Gid))
		}
		if err != nil {
			return fmt.Errorf("devpg: PostgreSQL does not run as root: %w", err)
		}
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "initdb"), "-D", s.file("data"),
		"-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("devpg: initdb: %w\n%s", err, out)
	}
	return nil
}

func nobody() (*syscall.Credential, error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func (s *Server) file(name string) string { return filepath.Join(s.dir, name) }

// DSN is the address of a database as the superuser; "postgres" always exists.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", superuser, s.port, database)
}

// Restart starts a server that was killed or halted, on the same port and files,
// and waits until it answers.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	proc, err := s.launch()
	if err != nil {
		return err
	}
	for {
		err := s.ping(ctx)
		switch {
		case err == nil:
			return nil
		case !proc.Running():
			return fmt.Errorf("devpg: the server ended by itself (%w); its log ends with\n%s", errors.Join(os.ErrProcessDone, proc.Err()), s.logTail())
		case ctx.Err() != nil:
			return fmt.Errorf("devpg: the server does not answer within %v: %w; its log ends with\n%s", startTimeout, err, s.logTail())
		}
		t := time.NewTimer(poll)
		select {
		case <-ctx.Done():
		case <-proc.Exited():
		case <-t.C:
		}
		t.Stop()
	}
}

func (s *Server) launch() (*childproc.Process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil && s.proc.Running() {
		return nil, errors.New("devpg: the server is running already")
	}
	out, err := os.OpenFile(s.file("server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("devpg: %w", err)
	}
	args := []string{"-D", s.file("data"), "-p", strconv.Itoa(s.port), "-h", "127.0.0.1", "-c", "unix_socket_directories="}
	for name, value := range s.config {
		args = append(args, "-c", name+"="+value)
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), args...) //nolint:noctx // it outlives every context; Kill and Stop end it
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, s.dir
	gone, held, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("devpg: %w", err), out.Close())
	}
	cmd.ExtraFiles = []*os.File{held}
	proc, err := childproc.Start(cmd, s.as, out)
	if err = errors.Join(err, held.Close()); err != nil {
		return nil, fmt.Errorf("devpg: %w", errors.Join(err, gone.Close()))
	}
	s.proc, s.gone = proc, gone
	return proc, nil
}

func (s *Server) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	return errors.Join(c.Ping(ctx), c.Close(ctx))
}

// Kill sends SIGKILL to the server's main process, and returns when those it
// forked have followed. What the operating system holds is not lost, and a
// session in the middle of a statement may still end that, with its answer.
func (s *Server) Kill(ctx context.Context) error { return s.end(ctx, syscall.SIGKILL) }

// Halt ends the server in order: sessions are cut, nothing is lost ("fast
// shutdown").
func (s *Server) Halt(ctx context.Context) error { return s.end(ctx, syscall.SIGINT) }

func (s *Server) end(ctx context.Context, sig syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return nil
	}
	if err := s.proc.End(ctx, sig); err != nil {
		return fmt.Errorf("devpg: %w", err)
	}
	if err := s.awaitForks(ctx); err != nil {
		return fmt.Errorf("devpg: processes of the ended server still run: %w", err)
	}
	s.proc = nil
	return s.gone.Close()
}

// awaitForks waits for the processes that the server forked. They notice its
// death, but not at once, and PostgreSQL does not start beside them.
func (s *Server) awaitForks(ctx context.Context) error {
	if err := s.gone.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = s.gone.SetReadDeadline(time.Now()) })()
	if _, err := s.gone.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return errors.Join(err, ctx.Err())
	}
	return nil
}

// Stop ends the server and removes its files.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout) //nolint:forbidigo // a caller whose context is over stops it, too
	defer cancel()
	err := s.Halt(ctx)
	if err != nil {
		err = errors.Join(err, s.end(ctx, syscall.SIGKILL))
	}
	if s.dir == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// logTail returns the last lines of the server's log, for errors.
func (s *Server) logTail() string { return childproc.LogTail(s.file("server.log"), 20) }
