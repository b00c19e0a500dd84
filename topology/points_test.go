package topology

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A kind of step that was added without saying where its result is fixed is
// refused. It takes the inside of the package to make one.
func TestStepWithoutPointsIsRefused(t *testing.T) {
	t.Parallel()
	b := New()
	s := Source(b, "in", String, String)
	b.add(kindOutcomes+1, "new", s.n)
	top, err := b.Build()
	require.Nil(t, top)
	require.ErrorIs(t, err, ErrInvalid)
	require.ErrorContains(t, err, `topology: unknown step "new": cannot tell where its result is fixed, where the offset is acknowledged and who owns an external effect`)

	for k := kindSource; k <= kindOutcomes; k++ {
		at, ok := pointsOf(&node{kind: k, effect: &declared{promise: "some"}})
		require.True(t, ok, k)
		require.NotEqual(t, "unknown step", k.String())
		require.NotContains(t, []string{at.fixed, at.acknowledged, at.effect}, "")
	}
}
