package crashtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Publish logs a figure or a table, and appends it to figures.txt in the folder
// $WEIR_FIGURES, if that is set: what prints tests shows the log of those only
// that fail, and make prints the file at the end.
func Publish(t testing.TB, format string, args ...any) {
	t.Helper()
	text := fmt.Sprintf(format, args...)
	t.Log(text)
	if dir := os.Getenv("WEIR_FIGURES"); dir != "" {
		if err := publish(dir, t.Name()+": "+text+"\n"); err != nil {
			t.Errorf("crashtest: figures: %v", err)
		}
	}
}

func publish(dir, text string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "figures.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
