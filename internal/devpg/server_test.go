package devpg_test

import (
	"testing"

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

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	t.Parallel()
	_, err := devpg.Start(t.Context(), devpg.Options{Config: map[string]string{"max_connections": "none"}})
	require.ErrorContains(t, err, `invalid value for parameter "max_connections": "none"`)
}
