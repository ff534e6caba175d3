//go:build cgo && sound && peers

package device

import (
	"bufio"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gen2brain/malgo"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/porttest"
)

// null is miniaudio's device without hardware, which keeps time. The library's own
// constant has the number of another backend.
var null = []malgo.Backend{malgo.BackendNull + 1}

// The leg works with the library's device without hardware: it reads silence and plays
// what is written.
func TestPeerNullDevice(t *testing.T) {
	l, err := open(Options{}, func(rate, heard, played int, exchange func(_, _ []int16), stopped func()) (stream, error) {
		return openOn(null, rate, heard, played, exchange, stopped)
	})
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]int16, audio.FrameSamples(l.Rate()))
	for i := 0; l.Played() < audio.Pos(10*len(frame)); i++ {
		f, err := l.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if audio.Peak(f.PCM) != 0 {
			t.Fatal("there is sound")
		}
		if err := l.Write(t.Context(), audio.Frame{Pos: audio.Pos(i * len(frame)), Rate: l.Rate(), PCM: frame}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestPeerNoBackend(t *testing.T) {
	if _, err := openOn([]malgo.Backend{malgo.BackendOpensl}, 48000, 1, 1, nil, nil); !errors.Is(err, ErrNoSound) {
		t.Errorf("%v", err)
	}
}

// pulseaudio runs a sound server with one device without hardware, whose microphone
// hears its speaker, until the returned function is called or the test ends.
func pulseaudio(t *testing.T) (kill func()) {
	t.Helper()
	program, err := exec.LookPath("pulseaudio")
	if err != nil {
		t.Skip("pulseaudio is not installed")
	}
	socket := filepath.Join(t.TempDir(), "native")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	cmd := exec.CommandContext(t.Context(), program, "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "-v",
		"-L", "module-null-sink sink_name=ear", "-L", "module-native-protocol-unix auth-anonymous=1 socket="+socket)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	t.Cleanup(kill)
	lines, ready := bufio.NewScanner(said), false
	for !ready && lines.Scan() {
		ready = strings.Contains(lines.Text(), "startup complete")
	}
	if !ready {
		t.Fatal("pulseaudio does not start")
	}
	go func() { // the server must not wait for a reader
		for lines.Scan() {
		}
	}()
	t.Setenv("PULSE_SERVER", "unix:"+socket)
	t.Setenv("PULSE_SINK", "ear")
	t.Setenv("PULSE_SOURCE", "ear.monitor")
	return kill
}

// If the sound server goes in mid-call, and the device with it, the call ends with an error.
func TestPeerDeviceGoes(t *testing.T) {
	kill := pulseaudio(t)
	l, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; err == nil; i++ {
		if i == 25 {
			kill()
		}
		_, err = l.Read(t.Context())
	}
	if !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	t.Log(err)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// With a real sound server, what the leg writes is played, and what is played is read.
func TestPeerPulseAudio(t *testing.T) {
	pulseaudio(t)
	l, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	frame := make([]int16, audio.FrameSamples(l.Rate()))
	tone := porttest.Tone(l.Rate(), 400*time.Millisecond)
	loud := 0
	for i := range 250 { // five seconds
		f, err := l.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if audio.RMS(f.PCM) > 0.05 {
			loud++
		}
		clear(frame)
		if i >= 50 {
			tone = tone[copy(frame, tone):]
		}
		if err := l.Write(t.Context(), audio.Frame{Pos: audio.Pos(i * len(frame)), Rate: l.Rate(), PCM: frame}); err != nil {
			t.Fatal(err)
		}
	}
	if loud < 18 || loud > 23 {
		t.Errorf("%d frames are loud, 20 were written", loud)
	}
}
