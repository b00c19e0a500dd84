package eos

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransactionalIDIsReadBackAsWritten(t *testing.T) {
	t.Parallel()
	for want, id := range map[string]transactionalID{
		"orders/host-1.0/0/1":  {application: "orders", member: "host-1.0", lane: 0, slot: 1},
		"orders-eu/a_b.c/12/3": {application: "orders-eu", member: "a_b.c", lane: 12, slot: 3},
	} {
		require.Equal(t, want, id.String())
		got, ok := parseTransactionalID(want)
		require.True(t, ok, want)
		require.Equal(t, id, got)
		require.True(t, strings.HasPrefix(want, memberPrefix(id.application, id.member)))
	}
}

func TestTransactionalIDsOfOthersAreNotTaken(t *testing.T) {
	t.Parallel()
	for _, foreign := range []string{
		"", "orders", "orders-0-1", "orders/m/0", "orders/m/0/1/2", "/m/0/1", "orders//0/1",
		"orders/m/-1/0", "orders/m/0/-1", "orders/m/00/1", "orders/m/+1/0", "orders/m/a/b", "orders/m/0/1 ",
		"or ders/m/0/1", "orders/mä/0/1", "orders/m/99999999999999999999/0",
		strings.Repeat("a", 201) + "/m/0/1",
	} {
		_, ok := parseTransactionalID(foreign)
		require.False(t, ok, "%q", foreign)
	}
}

// TestTransactionalIDPrefixEndsWithTheSeparator: one name may begin with
// another.
func TestTransactionalIDPrefixEndsWithTheSeparator(t *testing.T) {
	t.Parallel()
	eu := transactionalID{application: "orders-eu", member: "host.1"}.String()
	require.False(t, strings.HasPrefix(eu, memberPrefix("orders", "host.1")))
	ten := transactionalID{application: "orders", member: "host.10"}.String()
	require.False(t, strings.HasPrefix(ten, memberPrefix("orders", "host.1")))
}

func TestIDsMayNotHoldTheSeparator(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkID("name", "A-z_0.9"))
	for _, bad := range []string{"", "a/b", "a b", "ä", "a\n", strings.Repeat("a", 201)} {
		require.ErrorIs(t, checkID("name", bad), ErrConfig, "%q", bad)
	}
}
