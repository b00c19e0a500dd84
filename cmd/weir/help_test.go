package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestHelpTeaches(t *testing.T) {
	for _, path := range []string{
		"dev", "dev create", "dev produce", "dev consume", "dlq", "dlq list", "dlq show", "dlq replay",
	} {
		t.Run(path, func(t *testing.T) {
			got := succeed(t, "", append(strings.Fields(path), "--help")...)
			golden := filepath.Join("testdata", "help", strings.ReplaceAll(path, " ", "-")+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestHelpListsEveryCommand(t *testing.T) {
	help := succeed(t, "", "--help")
	for _, c := range rootCommand().Subcommands {
		require.Contains(t, help, "\n  "+c.Name+" ")
		require.Contains(t, help, c.ShortHelp)
	}
}
