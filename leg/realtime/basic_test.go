package realtime_test

import "testing"

func TestTextTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{silent: true})
	c := r.dial(t, dialOptions{})
	c.of("session.created")
	c.textOnly()
	c.user("hello")
	m := c.mark()
	c.send(obj{"type": "response.create"})
	done := c.of("response.done")
	for _, e := range c.since(m) {
		t.Log(string(e.raw))
	}
	if done.str("response.status") != "completed" {
		t.Errorf("%s", done.raw)
	}
}

func TestVoiceTurn(t *testing.T) {
	t.Parallel()
	engine(t)
	take(t, 1)
	r := newRig(t, rigOptions{})
	c := r.dial(t, dialOptions{})
	c.of("session.created")
	c.update(obj{"audio": obj{"input": obj{"transcription": obj{"model": "whisper-1"}}}})
	mic := c.microphone(nil)
	m := c.mark()
	mic.say(sound(t, "I want to book a flight"))
	done := c.of("response.done")
	deltas := 0
	for _, e := range c.since(m) {
		if e.Type == "response.output_audio.delta" {
			deltas++
			continue
		}
		t.Log(e.at.Format("05.000"), string(e.raw))
	}
	if done.str("response.status") != "completed" || deltas < 20 {
		t.Errorf("%d deltas; %s", deltas, done.raw)
	}
}
