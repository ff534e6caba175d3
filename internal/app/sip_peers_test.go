//go:build peers && flite && pocketsphinx && cgo

package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/provider/flite"
)

// TestPeerSIPBooking books a flight by a call over SIP: a telephone written by others plays a recording of a
// caller, who waits for each question as long as it takes.
func TestPeerSIPBooking(t *testing.T) {
	path, err := exec.LookPath("baresip")
	if err != nil {
		t.Skip("there is no baresip here; 'scripts/deps --sip' installs it")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(config, []byte("server: {drain: 0s, sip: {addr: '127.0.0.1:0', allow: [127.0.0.1]}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &lockedBuffer{}
	s, err := NewServer(ServeOptions{Config: config, Addr: "127.0.0.1:0", Store: NoStore, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	at := s.URL()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	recording := filepath.Join(dir, "caller.wav")
	record(t, recording, "I want to book a flight", "from Boston", "to Denver", "next friday [8s]", "yes please")
	for name, text := range map[string]string{
		"config": "sip_listen 127.0.0.1:0\nnet_interface 127.0.0.1\naudio_player aubridge,nil\naudio_source aufile," + recording + "\naudio_alert aubridge,nil\n" +
			"module_path /usr/lib/baresip/modules\nmodule g722.so\nmodule aufile.so\nmodule aubridge.so\nmodule_app account.so\nmodule_app menu.so\n",
		"accounts": "<sip:+15551234567@127.0.0.1>;regint=0;audio_codecs=G722/16000/1\n",
		"contacts": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	telephone, hang := context.WithCancel(t.Context())
	defer hang()
	run := exec.CommandContext(telephone, path, "-f", dir, "-e", "/dial sip:flights@"+s.sip.Addr().String())
	said := &lockedBuffer{}
	run.Stdout, run.Stderr = said, said
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		hang()
		_ = run.Wait()
	}()
	waittest.Until(t, "the call", nil, func() bool { return s.hub.Live() == 1 })
	id := s.hub.List(nil)[0].ID
	// The telephone hangs up when its recording is over.
	waittest.Until(t, "the end of the call", nil, func() bool { return s.hub.Live() == 0 })
	text := traced(t, at, id)
	for _, want := range []string{"from Boston to Denver", "Your flight is booked"} {
		if !strings.Contains(text, want) {
			t.Errorf("nobody has said %q:\n%s\nbaresip:\n%s\n%s", want, text, said.String(), log.String())
		}
	}
}

// record writes a recording of a caller, with a pause for the agent before and behind each sentence.
func record(t *testing.T, path string, sentences ...string) {
	t.Helper()
	voice, err := flite.New(flite.Options{Voice: "rms"})
	if err != nil {
		t.Fatal(err)
	}
	spoken, err := file.Say(t.Context(), voice, "", sentences...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: file.DefaultRate})
	if err != nil {
		t.Fatal(err)
	}
	pause := make([]int16, audio.PosOf(8*time.Second, file.DefaultRate))
	all := append([]int16(nil), pause...)
	for _, u := range spoken {
		all = append(append(all, u.PCM...), pause...)
	}
	if err := errors.Join(w.Write(all), w.Close(), f.Close(), voice.Close()); err != nil {
		t.Fatal(err)
	}
}

// traced returns the trace of a conversation.
func traced(t *testing.T, at, id string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, at+"/v1/conversations/"+id+"/trace", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v", answer.StatusCode, err)
	}
	return string(text)
}
