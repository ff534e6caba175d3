//go:build peers

package sip

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
)

// program returns the path of a program, or skips the test with what installs it.
func program(t *testing.T, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s here; install what Debian calls %s ('scripts/deps --sip') to have it", name, pkg)
	}
	return path
}

// TestPeerSippCalls: 500 calls of sipp at 50 a second, 100 at once, none of which is lost.
func TestPeerSippCalls(t *testing.T) {
	sipp := program(t, "sipp", "sip-tester")
	r := newRig(t, Options{MaxCalls: 400})
	var talking sync.WaitGroup
	stop := make(chan struct{})
	talking.Go(func() {
		for {
			select {
			case c := <-r.calls:
				talking.Go(func() { converse(t.Context(), c.leg) })
			case <-stop:
				return
			}
		}
	})
	out, err := exec.CommandContext(waittest.Context(t), sipp, "-sn", "uac", r.Addr().String(), "-i", "127.0.0.1", "-m", "500", "-r", "50", "-d", "2000", "-nostdin", "-timeout", "100s").CombinedOutput()
	if err != nil {
		t.Errorf("sipp: %v\n%s", err, last(string(out), 3000))
	}
	if got := r.hangups(t, 500); len(got) != 500 {
		t.Errorf("%d calls are over", len(got))
	}
	for _, h := range r.hangups(t, 500) {
		if h != (Hangup{"normal", "caller"}) {
			t.Errorf("a call is over with %+v", h)
		}
	}
	close(stop)
	talking.Wait()
	if all := r.failures(); len(all) > 0 || r.Live() != 0 {
		t.Errorf("%d calls are left; %v", r.Live(), all)
	}
}

func last(text string, n int) string { return text[max(0, len(text)-n):] }

// converse reads and writes silence at the pace of the clock until the call is over.
func converse(ctx context.Context, leg *Leg) {
	frame := audio.Frame{Rate: leg.Rate(), PCM: make([]int16, audio.FrameSamples(leg.Rate()))}
	for {
		if _, err := leg.Read(ctx); err != nil {
			_ = leg.Close()
			return
		}
		_ = leg.Write(ctx, frame)
	}
}

// TestPeerSippKeys: keys as sipp sends them, whose first packet has the duration 0.
func TestPeerSippKeys(t *testing.T) {
	sipp := program(t, "sipp", "sip-tester")
	if os.Getuid() != 0 {
		t.Skip("sipp plays recordings of packets only for root")
	}
	const recordings = "/usr/share/sip-tester"
	if _, err := os.Stat(recordings); err != nil {
		t.Skipf("sipp's recordings are not in %s", recordings)
	}
	var play strings.Builder
	for _, name := range []string{"5", "1", "star", "pound", "0"} {
		fmt.Fprintf(&play, `<nop><action><exec play_pcap_audio="%s/dtmf_2833_%s.pcap"/></action></nop><pause milliseconds="600"/>`, recordings, name)
	}
	file := filepath.Join(t.TempDir(), "keys.xml")
	if err := os.WriteFile(file, []byte(strings.Replace(scenario, "PLAY", play.String(), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, Options{})
	run := exec.CommandContext(waittest.Context(t), sipp, "-sf", file, r.Addr().String(), "-i", "127.0.0.1", "-mi", "127.0.0.1", "-m", "1", "-nostdin", "-timeout", "60s")
	var out strings.Builder
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	c := r.next(t)
	got := ""
	for {
		k, err := c.leg.ReadKey(waittest.Context(t))
		if err != nil {
			break
		}
		got += string(k)
	}
	if err := run.Wait(); err != nil {
		t.Errorf("sipp: %v\n%s", err, last(out.String(), 3000))
	}
	if got != "51*#0" {
		t.Errorf("the keys are %q", got)
	}
}

// scenario is a call of sipp in PCMA.
const scenario = `<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="keys">
<send retrans="500"><![CDATA[
INVITE sip:agent@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:+15551234567@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
To: <sip:agent@[remote_ip]:[remote_port]>
Call-ID: [call_id]
CSeq: 1 INVITE
Contact: <sip:sipp@[local_ip]:[local_port]>
Max-Forwards: 70
Content-Type: application/sdp
Content-Length: [len]

v=0
o=user1 53655765 2353687637 IN IP[local_ip_type] [local_ip]
s=-
c=IN IP[media_ip_type] [media_ip]
t=0 0
m=audio [media_port] RTP/AVP 8 101
a=rtpmap:8 PCMA/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-15
]]></send>
<recv response="100" optional="true"/>
<recv response="200" rtd="true"/>
<send><![CDATA[
ACK sip:agent@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:+15551234567@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
[last_To:]
Call-ID: [call_id]
CSeq: 1 ACK
Max-Forwards: 70
Content-Length: 0

]]></send>
PLAY
<send retrans="500"><![CDATA[
BYE sip:agent@[remote_ip]:[remote_port] SIP/2.0
Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=[branch]
From: <sip:+15551234567@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
[last_To:]
Call-ID: [call_id]
CSeq: 2 BYE
Max-Forwards: 70
Content-Length: 0

]]></send>
<recv response="200"/>
</scenario>
`

// baresip is a telephone.
type baresip struct {
	t     *testing.T
	dir   string
	ctrl  net.Conn
	log   *syncLog
	tag   int
	sipAt string
}

type syncLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *syncLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// free returns a port that is free for UDP and TCP.
func free(t *testing.T) int {
	t.Helper()
	udp, tcp, err := listenBoth(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	at := addrOf(udp.LocalAddr())
	if err := errors.Join(udp.Close(), tcp.Close()); err != nil {
		t.Fatal(err)
	}
	return int(at.Port())
}

// newBaresip starts a telephone that says a tone and has a codec. account are parameters of its account.
func newBaresip(t *testing.T, codec string, rate, channels int, account string) *baresip {
	t.Helper()
	path := program(t, "baresip", "baresip")
	b := &baresip{t: t, dir: t.TempDir(), log: &syncLog{}}
	source := filepath.Join(b.dir, "tone.wav")
	f, err := os.Create(source)
	if err != nil {
		t.Fatal(err)
	}
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: rate, Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	var pcm []int16
	for _, v := range tone(rate, 440, 30*time.Second) {
		for range channels {
			pcm = append(pcm, v)
		}
	}
	if err := errors.Join(w.Write(pcm), w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	at, ctrl := free(t), free(t)
	b.sipAt = fmt.Sprintf("127.0.0.1:%d", at)
	config := fmt.Sprintf(`sip_listen %s
net_interface 127.0.0.1
audio_player aubridge,nil
audio_source aufile,%s
audio_alert aubridge,nil
snd_path %s
ctrl_tcp_listen 127.0.0.1:%d
rtp_ports 20000-40000
module_path /usr/lib/baresip/modules
module g711.so
module g722.so
module opus.so
module srtp.so
module aufile.so
module aubridge.so
module sndfile.so
module_app account.so
module_app menu.so
module_app ctrl_tcp.so
`, b.sipAt, source, b.dir, ctrl)
	for name, text := range map[string]string{
		"config":   config,
		"accounts": "<sip:+15551234567@127.0.0.1>;regint=0;audio_codecs=" + codec + account + "\n",
		"contacts": "",
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), path, "-f", b.dir)
	run.Stdout, run.Stderr = b.log, b.log
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = run.Wait()
	}()
	t.Cleanup(func() {
		if b.ctrl != nil {
			_ = b.ctrl.Close()
		}
		_ = run.Process.Signal(os.Interrupt)
		<-ended
		if t.Failed() {
			t.Logf("baresip:\n%s", last(b.log.String(), 4000))
		}
	})
	waittest.Until(t, "baresip", ended, func() bool {
		b.ctrl, err = net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", ctrl))
		return err == nil
	})
	return b
}

// do gives the telephone a command and returns its answer.
func (b *baresip) do(command, params string) {
	b.t.Helper()
	b.tag++
	token := strconv.Itoa(b.tag)
	m, err := json.Marshal(map[string]string{"command": command, "params": params, "token": token})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(b.ctrl, "%d:%s,", len(m), m); err != nil {
		b.t.Fatal(err)
	}
	deadline, _ := waittest.Context(b.t).Deadline()
	_ = b.ctrl.SetReadDeadline(deadline)
	for { // events come between answers
		var size int
		if _, err := fmt.Fscanf(b.ctrl, "%d:", &size); err != nil || size > 1<<20 {
			b.t.Fatalf("%s: baresip does not answer: %v", command, err)
		}
		body := make([]byte, size+1)
		if _, err := io.ReadFull(b.ctrl, body); err != nil {
			b.t.Fatal(err)
		}
		var answer struct {
			Token string `json:"token"`
			OK    bool   `json:"ok"`
			Data  string `json:"data"`
		}
		if json.Unmarshal(body[:size], &answer) == nil && answer.Token == token {
			if !answer.OK {
				b.t.Fatalf("%s %s: baresip says %q", command, params, answer.Data)
			}
			return
		}
	}
}

// heard returns what the telephone has heard.
func (b *baresip) heard() []int16 {
	b.t.Helper()
	files, err := filepath.Glob(filepath.Join(b.dir, "*-dec.wav"))
	if err != nil || len(files) == 0 {
		b.t.Fatalf("baresip has written nothing: %v", err)
	}
	f, err := os.Open(files[len(files)-1])
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	_, _ = f.Seek(44, io.SeekStart) // the length in the header is that at the end
	data, err := io.ReadAll(f)
	if err != nil {
		b.t.Fatal(err)
	}
	return audio.AppendFromS16LE(nil, data)
}

// tone returns a tone.
func tone(rate int, hertz float64, d time.Duration) []int16 {
	pcm := make([]int16, audio.PosOf(d, rate))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hertz*float64(i)/float64(rate)))
	}
	return pcm
}

// share returns how much of a sound's energy is a tone: the median of pieces of 50 ms, since a jitter buffer
// skips or repeats a piece of it on a busy machine.
func share(pcm []int16, rate int, hertz float64) float64 {
	var all []float64
	for piece := range slices.Chunk(pcm, rate/20) {
		var re, im, energy float64
		for i, v := range piece {
			at := 2 * math.Pi * hertz * float64(i) / float64(rate)
			re += float64(v) * math.Cos(at)
			im += float64(v) * math.Sin(at)
			energy += float64(v) * float64(v)
		}
		all = append(all, 2*(re*re+im*im)/(max(energy, 1)*float64(len(piece))))
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}

// TestPeerBaresip: a telephone written by others calls with each form of sound, with and without
// encryption: both sides hear each other, its keys arrive, it holds and resumes, and hangs up.
func TestPeerBaresip(t *testing.T) {
	for _, c := range []struct {
		codec          string
		rate, channels int
		leg            int
		account        string
	}{
		{"PCMU/8000/1", 8000, 1, 8000, ""},
		{"PCMA/8000/1", 8000, 1, 8000, ";mediaenc=srtp-mand"},
		{"G722/16000/1", 16000, 1, 16000, ""},
		{"opus/48000/2", 48000, 2, 16000, ""},
	} {
		t.Run(c.codec+c.account, func(t *testing.T) {
			r := newRig(t, Options{Users: []User{{"ada", "secret"}}})
			b := newBaresip(t, c.codec, c.rate, c.channels, ";auth_user=ada;auth_pass=secret"+c.account)
			b.do("dial", "sip:agent@"+r.Addr().String())
			call := r.next(t)
			if call.User != "ada" || call.leg.Rate() != c.leg {
				t.Errorf("%+v, %d Hz", call.Incoming, call.leg.Rate())
			}
			say(t, b, call.leg, c.rate*c.channels)
			b.do("sndcode", "4")
			b.do("sndcode", "\x04")
			b.do("sndcode", "#")
			b.do("sndcode", "\x04")
			if got := key(t, call.leg) + key(t, call.leg); got != "4#" {
				t.Errorf("the keys are %q", got)
			}
			b.do("hold", "")
			if line, err := call.leg.Watch(waittest.Context(t), port.LineUp); line != port.LineLost || err != nil {
				t.Errorf("hold: %v, %v", line, err)
			}
			b.do("resume", "")
			if line, err := call.leg.Watch(waittest.Context(t), port.LineLost); line != port.LineUp || err != nil {
				t.Errorf("resume: %v, %v", line, err)
			}
			b.do("hangup", "")
			if got := r.hangups(t, 1); got[0] != (Hangup{"normal", "caller"}) {
				t.Errorf("it is over with %+v", got)
			}
			if all := r.failures(); len(all) > 0 {
				t.Errorf("it has failed: %v", all)
			}
		})
	}
}

// say says a tone of 1 kHz for two seconds, and checks that both sides hear each other's tone. rate is
// how many samples a second the telephone writes, of all channels.
func say(t *testing.T, b *baresip, leg *Leg, rate int) {
	t.Helper()
	var heard []int16
	ours := tone(leg.Rate(), 1000, 2*time.Second)
	size := audio.FrameSamples(leg.Rate())
	for len(ours) >= size {
		f, err := leg.Read(waittest.Context(t))
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, f.PCM...)
		if err := leg.Write(t.Context(), audio.Frame{Rate: leg.Rate(), PCM: ours[:size]}); err != nil {
			t.Fatal(err)
		}
		ours = ours[size:]
	}
	if got := share(heard[len(heard)/2:], leg.Rate(), 440); got < 0.9 {
		t.Errorf("%.2f of what the agent hears is the caller's tone", got)
	}
	waittest.Until(t, "what the telephone has heard", nil, func() bool {
		files, _ := filepath.Glob(filepath.Join(b.dir, "*-dec.wav"))
		return len(files) > 0 && len(b.heard()) > rate
	})
	all := b.heard()
	if got := share(all[len(all)/4:len(all)*3/4], rate, 1000); got < 0.9 {
		t.Errorf("%.2f of what the caller hears is the agent's tone", got)
	}
}

// TestPeerTransfer: a caller is handed over to another telephone, which answers; to one that does not
// exist the transfer fails, and the call goes on.
func TestPeerTransfer(t *testing.T) {
	r := newRig(t, Options{Admit: func(_ context.Context, in Incoming) error {
		if in.To == "nobody" {
			return ErrUnknown
		}
		return nil
	}})
	b := newBaresip(t, "PCMU/8000/1", 8000, 1, "")
	desk := newBaresip(t, "PCMU/8000/1", 8000, 1, ";answermode=auto")
	b.do("dial", "sip:agent@"+r.Addr().String())
	c := r.next(t)
	readFor(t, c.leg)
	if err := c.leg.Transfer(waittest.Context(t), port.Transfer{To: "sip:nobody@" + r.Addr().String()}); !errors.Is(err, port.ErrUnreachable) || !strings.Contains(err.Error(), "404") {
		t.Errorf("the transfer to nobody: %v", err)
	}
	if r.Live() != 1 {
		t.Fatal("the call is over")
	}
	if err := c.leg.Transfer(waittest.Context(t), port.Transfer{To: "sip:+15551234567@" + desk.sipAt, Ring: time.Minute}); err != nil {
		t.Fatal(err)
	}
	if got := r.hangups(t, 1); got[0].Cause != "transferred" {
		t.Errorf("it is over with %+v", got)
	}
	if text := desk.log.String(); !strings.Contains(text, "Call established") && !strings.Contains(text, "Incoming call") {
		t.Errorf("the desk has no call:\n%s", text)
	}
}
