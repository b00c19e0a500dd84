package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExitCodeIsPassedOn(t *testing.T) {
	code, err := run(t.Context(), 1, true, []string{"sh", "-c", `test -n "$WEIR_TEST_KAFKA" && test -n "$WEIR_TEST_POSTGRES" && exit 7`})
	require.NoError(t, err)
	require.Equal(t, 7, code)

	_, err = run(t.Context(), 1, false, nil)
	require.ErrorContains(t, err, "no command")
}
