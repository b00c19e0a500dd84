package devpg_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/weirstream/weir/internal/devpg"
)

func query(t *testing.T, s *devpg.Server, sql string) (answer string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	require.NoError(t, c.QueryRow(t.Context(), sql).Scan(&answer))
	return answer
}

// TestWhatIsCommittedOutlivesAKill also shows that a server is the release it
// says, and can be started again where it was.
func TestWhatIsCommittedOutlivesAKill(t *testing.T) {
	t.Parallel()
	s, err := devpg.Start(t.Context(), devpg.Options{Config: map[string]string{"max_connections": "7"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.Equal(t, devpg.Version, query(t, s, "show server_version"))
	require.Equal(t, "on", query(t, s, "show fsync"))
	require.Equal(t, "7", query(t, s, "show max_connections"))
	c, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "create table kept as select 'here' as what")
	require.NoError(t, err)
	require.ErrorContains(t, s.Restart(t.Context()), "running already")

	require.NoError(t, s.Kill(t.Context()))
	require.Error(t, c.Ping(t.Context()))
	require.NoError(t, s.Restart(t.Context()))
	require.Equal(t, "here", query(t, s, "select what from kept"))
	require.NoError(t, s.Halt(t.Context()))
	require.NoError(t, s.Halt(t.Context()), "nothing to end")
	require.NoError(t, s.Restart(t.Context()))
	require.Equal(t, "here", query(t, s, "select what from kept"))
}

// TestAServerCanBeKilledAtWorkAndStartedAgain: a session that computes notices
// the death of the server only at the end of its statement, and until then
// PostgreSQL refuses to start on the same files.
func TestAServerCanBeKilledAtWorkAndStartedAgain(t *testing.T) {
	t.Parallel()
	s, err := devpg.Start(t.Context(), devpg.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	c, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "create sequence working")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = c.Exec(t.Context(), `do $$ begin
			perform nextval('working');
			while clock_timestamp() < now() + interval '2 seconds' loop end loop;
		end $$`)
	}()
	require.Eventually(t, func() bool { return query(t, s, "select is_called::text from working") == "true" }, 10*time.Second, 10*time.Millisecond)

	require.NoError(t, s.Kill(t.Context()))
	require.NoError(t, s.Restart(t.Context()))
	<-ended // answered or not: its statement ran to the end
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := devpg.Start(t.Context(), devpg.Options{Config: map[string]string{"max_connections": "none"}})
	require.ErrorContains(t, err, `invalid value for parameter "max_connections": "none"`)
}
