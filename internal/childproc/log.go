package childproc

import (
	"os"
	"strings"
)

// LogTail returns the last lines of a child's log, for errors, or why there are
// none.
func LogTail(file string, lines int) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
