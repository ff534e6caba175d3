package porttest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakeRecognizer(t *testing.T) {
	texts := []string{"book a flight", "to boston", "please", "and so on"}
	TestRecognizer(t, func(*testing.T) port.Recognizer { return &Recognizer{Texts: texts} },
		RecognizerCapabilities{})
}

func TestFakeRecognizerThatIsLate(t *testing.T) {
	r := &Recognizer{Texts: []string{"late"}, Late: 7}
	TestRecognizer(t, func(*testing.T) port.Recognizer { return r },
		RecognizerCapabilities{Wait: r.Tick})
}

func TestFakeSynthesizer(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000} {
		TestSynthesizer(t, func(*testing.T) port.Synthesizer { return &Synthesizer{SampleRate: rate} },
			SynthesizerCapabilities{Marks: true, Repeatable: true})
	}
}

func TestFakeDetector(t *testing.T) {
	for _, d := range []Detector{{}, {SampleRate: 8000}, {Window: 512}} {
		TestDetector(t, func(*testing.T) port.Detector { return &d }, DetectorCapabilities{Speech: Tone(d.Rate(), time.Second)})
	}
}

func TestFakeLeg(t *testing.T) {
	for _, o := range []LegOptions{{Keep: true}, {Keep: true, Rate: 8000}, {Keep: true, Live: true}} {
		TestLeg(t, func(*testing.T) Line {
			l := NewLeg(o)
			return Line{Leg: l, Say: l.Say, HangUp: l.HangUp, Heard: l.Heard}
		})
	}
	TestLeg(t, func(*testing.T) Line {
		l := &AckLeg{Leg: NewLeg(LegOptions{Keep: true}), Behind: 800}
		return Line{Leg: l, Say: l.Say, HangUp: l.HangUp, Heard: l.Heard}
	})
	TestLeg(t, func(*testing.T) Line {
		l := NewLineLeg(NewLeg(LegOptions{Keep: true}))
		return Line{
			Leg: l, Say: l.Say, HangUp: l.HangUp, Heard: l.Heard,
			Cut: func() { l.SetLine(port.LineShaky) }, Mend: func() { l.SetLine(port.LineUp) },
		}
	})
}

func TestFakeModel(t *testing.T) {
	TestModel(t, func(*testing.T) port.Model { return &Model{} })
}

func TestFakeTool(t *testing.T) {
	TestTool(t, func(*testing.T) port.Tool {
		return &Tool{Known: []port.ToolSpec{{Name: "book", Schema: []byte(`{"type": "object"}`)}}}
	}, port.ToolCall{ID: "1", Name: "book", Arguments: "{}"})
}

func TestFakeStore(t *testing.T) {
	open := func(*testing.T) Stores {
		s := &Store{}
		return Stores{Store: s, Journal: s, Registry: s, Archive: s, Tickets: s, Versions: s, Callers: s}
	}
	TestStore(t, open)
	TestJournal(t, open)
	TestJournal(t, Recordings(open))
	TestRegistry(t, open)
	TestArchive(t, open)
	TestTickets(t, open)
	TestVersions(t, open)
	TestCallers(t, open)
}

func TestFakeTasks(t *testing.T) {
	TestTasks(t, func(t *testing.T, tool port.Tool) port.Tasks {
		tasks := &Tasks{Tool: tool}
		t.Cleanup(tasks.Close)
		return tasks
	})
}
