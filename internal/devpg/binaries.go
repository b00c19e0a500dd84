package devpg

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ulikunitz/xz"

	"github.com/weirstream/weir/internal/cache"
)

// Version is the PostgreSQL release.
const Version = "16.10"

// archive is what is published for one platform.
type archive struct{ platform, sum string }

var archives = map[string]archive{
	"linux/amd64":  {"linux-amd64", "17a8ded28bde97fe66247387806af30ee26190fc96503c47c3eaa4fcbdcff8b6"},
	"linux/arm64":  {"linux-arm64v8", "96e6e62674dfbb2fb16081a05525c0454290e163a8d7ae225512cf60ee908371"},
	"darwin/amd64": {"darwin-amd64", "1814e19b24cff2171515dd8d173e35ec4e9ce8f9b68784d3a5471764a47311dd"},
	"darwin/arm64": {"darwin-arm64v8", "8b1933ae6912399902ac901f2633f22c5e92ca81585297ba0e2b835e25208459"},
}

// downloadTimeout bounds a download of 15 to 30 MB.
const downloadTimeout = 5 * time.Minute

// Binaries returns the folder with bin, lib and share, downloading it on first
// use.
func Binaries(ctx context.Context, log *slog.Logger) (string, error) {
	a, ok := archives[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		return "", fmt.Errorf("devpg: no PostgreSQL %s is published for %s/%s: start one yourself and give its address", Version, runtime.GOOS, runtime.GOARCH)
	}
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return cache.Once(ctx, filepath.Join(dir, "postgres-"+Version), func(tmp string) error {
		started := time.Now()
		if err := a.fetch(ctx, tmp); err != nil {
			return fmt.Errorf("devpg: PostgreSQL %s: %w", Version, err)
		}
		log.Info("postgresql downloaded", "version", Version, "elapsed", time.Since(started).Round(time.Millisecond))
		return nil
	})
}

// cacheDir is one that "nobody" can reach when root runs the server as that.
func cacheDir() (string, error) {
	if os.Getuid() == 0 && os.Getenv("WEIR_CACHE") == "" {
		return "/var/cache/weir", nil
	}
	return cache.Dir()
}

func (a archive) fetch(ctx context.Context, dir string) error {
	name := "embedded-postgres-binaries-" + a.platform
	url := fmt.Sprintf("https://repo1.maven.org/maven2/io/zonky/test/postgres/%s/%s.0/%s-%s.0.jar", name, Version, name, Version)
	jar, err := download(ctx, url)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(jar); hex.EncodeToString(sum[:]) != a.sum {
		return fmt.Errorf("%s is not what it was: its SHA-256 is %x, not %s", url, sum, a.sum)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the server may run as another user
		return err
	}
	return unpack(jar, dir)
}

func download(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("access to Maven Central is needed once: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// unpack writes the one archive in the jar to dir.
func unpack(jar []byte, dir string) error {
	files, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return err
	}
	for _, f := range files.File {
		if !strings.HasSuffix(f.Name, ".txz") {
			continue
		}
		packed, err := f.Open()
		if err != nil {
			return err
		}
		defer func() { _ = packed.Close() }()
		unpacked, err := xz.NewReader(packed)
		if err != nil {
			return err
		}
		return untar(tar.NewReader(unpacked), dir)
	}
	return errors.New("the jar holds no .txz")
}

// untar keeps to dir: os.Root refuses names and links that lead out of it.
func untar(from *tar.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = extract(root, h, from)
		}
		if err != nil {
			return err
		}
	}
}

func extract(root *os.Root, h *tar.Header, from io.Reader) error {
	name := filepath.Clean(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, h.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from) //nolint:gosec // its sum is known
		return errors.Join(err, to.Close())
	}
	return fmt.Errorf("%s: an entry of type %q", h.Name, h.Typeflag)
}
