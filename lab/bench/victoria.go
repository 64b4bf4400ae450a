package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startVictoria starts VictoriaMetrics if Debian's package is installed; nil
// when it is not. It does not sync before it acknowledges.
func startVictoria(dir string) (*server, error) {
	path, err := exec.LookPath("victoria-metrics")
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // without the package its columns stay empty
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &server{addr: addr, token: "none", cmd: exec.Command(path,
		"-storageDataPath="+dir, "-httpListenAddr="+addr, "-retentionPeriod=10y", "-loggerLevel=ERROR",
		"-http.connTimeout=24h")}
	s.cmd.Stderr = os.Stderr
	dieWithParent(s.cmd)
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for time.Since(began) < 10*time.Minute {
		if r, err := http.Get("http://" + addr + "/health"); err == nil {
			_ = r.Body.Close()
			s.started = time.Since(began)
			return s, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.kill()
	return nil, errors.New("VictoriaMetrics does not answer")
}

// flushVictoria makes it write what it holds to its files, and returns their
// size in bytes.
func flushVictoria(s *server, dir string) (int64, error) {
	r, err := http.Get("http://" + s.addr + "/internal/force_flush")
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return 0, err
	}
	if r.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("flush: status %d", r.StatusCode)
	}
	var n int64
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // merged away meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n, err
}
