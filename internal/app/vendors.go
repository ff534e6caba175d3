package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/llm"
	"github.com/hocketvoice/hocket/internal/model"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/provider/cartesia"
	"github.com/hocketvoice/hocket/provider/deepgram"
	"github.com/hocketvoice/hocket/provider/elevenlabs"
	"github.com/hocketvoice/hocket/provider/soniox"
)

// Vendor describes the speech services of a vendor that are reached over a network.
type Vendor struct {
	Name string // as the config names it
	// KeyEnv is the vendor's environment variable for the key.
	KeyEnv string
	// Hears and Speaks describe the services; zero if the vendor has none.
	Hears  Hearing
	Speaks Speaking

	of          func(*config.Speech) vendorKeys
	recognizer  func(c config.Vendor) (hostedRecognizer, error)
	synthesizer func(c config.Vendor) (hostedSynthesizer, error)
	foreign     func(c config.Vendor) (recognizer, synthesizer bool)
}

// Hearing describes a recognizer.
type Hearing struct {
	Model string // by default
	// Partials, Words, Terms and Endpoints report whether it gives interim results and the
	// times of words, takes key terms, and judges that somebody has finished.
	Partials, Words, Terms, Endpoints bool
	// EndOfTurn says which model gives the probability of that; empty if none does.
	EndOfTurn string
	Languages string
}

// Speaking describes a synthesizer.
type Speaking struct {
	Model, Voice string // by default
	Words        bool   // it tells when words begin
	Cancel       string // how a text is cancelled
	Rate         int    // of its sound, in hertz
	Languages    string
}

type hostedRecognizer interface {
	port.Recognizer
	Close() error
}

type hostedSynthesizer interface {
	port.Synthesizer
	Close() error
}

// vendorKeys are the keys of a vendor's section in a config.
type vendorKeys struct {
	keyEnv, voice, recognizerModel, recognizerURL, synthesizerModel, synthesizerURL *string
}

// get returns the values.
func (k vendorKeys) get() config.Vendor {
	return config.Vendor{
		KeyEnv: *k.keyEnv, Voice: *k.voice, RecognizerModel: *k.recognizerModel, RecognizerURL: *k.recognizerURL,
		SynthesizerModel: *k.synthesizerModel, SynthesizerURL: *k.synthesizerURL,
	}
}

func keysOf(v *config.Vendor) vendorKeys {
	return vendorKeys{&v.KeyEnv, &v.Voice, &v.RecognizerModel, &v.RecognizerURL, &v.SynthesizerModel, &v.SynthesizerURL}
}

// keysOfSpeaker returns the keys of a vendor without a recognizer: those of a recognizer are of
// no consequence.
func keysOfSpeaker(v *config.Speaker) vendorKeys {
	return vendorKeys{&v.KeyEnv, &v.Voice, new(string), new(string), &v.SynthesizerModel, &v.SynthesizerURL}
}

// Vendors returns the vendors in the order in which they are documented.
func Vendors() []Vendor {
	return []Vendor{cartesiaVendor(), deepgramVendor(), elevenlabsVendor(), sonioxVendor()}
}

func cartesiaVendor() Vendor {
	speaks := func(c config.Vendor) cartesia.Options {
		return cartesia.Options{URL: c.SynthesizerURL, KeyEnv: c.KeyEnv, Model: c.SynthesizerModel, Voice: c.Voice}
	}
	return Vendor{
		Name: "cartesia", KeyEnv: cartesia.KeyEnv,
		Speaks:      Speaking{Model: cartesia.SynthesizerModel, Voice: cartesia.DefaultVoice, Words: true, Cancel: "the context", Rate: 24000, Languages: "40 and more"},
		of:          func(s *config.Speech) vendorKeys { return keysOfSpeaker(&s.Cartesia) },
		synthesizer: func(c config.Vendor) (hostedSynthesizer, error) { return cartesia.NewSynthesizer(speaks(c)) },
		foreign:     func(c config.Vendor) (bool, bool) { return false, speaks(c).Foreign() },
	}
}

func deepgramVendor() Vendor {
	hears := func(c config.Vendor) deepgram.Options {
		return deepgram.Options{URL: c.RecognizerURL, KeyEnv: c.KeyEnv, Model: c.RecognizerModel}
	}
	speaks := func(c config.Vendor) deepgram.Options {
		return deepgram.Options{URL: c.SynthesizerURL, KeyEnv: c.KeyEnv, Voice: cmp.Or(c.Voice, c.SynthesizerModel)}
	}
	return Vendor{
		Name: "deepgram", KeyEnv: deepgram.KeyEnv,
		Hears: Hearing{
			Model: deepgram.RecognizerModel, Partials: true, Words: true, Terms: true, Endpoints: true,
			EndOfTurn: "`flux-general-en`", Languages: "30 and more",
		},
		Speaks:      Speaking{Voice: deepgram.DefaultVoice, Cancel: "the connection's text", Rate: 24000, Languages: "7, by voice"},
		of:          func(s *config.Speech) vendorKeys { return keysOf(&s.Deepgram) },
		recognizer:  func(c config.Vendor) (hostedRecognizer, error) { return deepgram.NewRecognizer(hears(c)) },
		synthesizer: func(c config.Vendor) (hostedSynthesizer, error) { return deepgram.NewSynthesizer(speaks(c)) },
		foreign:     func(c config.Vendor) (bool, bool) { return hears(c).Foreign(), speaks(c).Foreign() },
	}
}

func elevenlabsVendor() Vendor {
	speaks := func(c config.Vendor) elevenlabs.Options {
		return elevenlabs.Options{URL: c.SynthesizerURL, KeyEnv: c.KeyEnv, Model: c.SynthesizerModel, Voice: c.Voice}
	}
	return Vendor{
		Name: "elevenlabs", KeyEnv: elevenlabs.KeyEnv,
		Speaks:      Speaking{Model: elevenlabs.SynthesizerModel, Voice: elevenlabs.DefaultVoice, Words: true, Cancel: "not; its sound is dropped", Rate: 24000, Languages: "32"},
		of:          func(s *config.Speech) vendorKeys { return keysOfSpeaker(&s.ElevenLabs) },
		synthesizer: func(c config.Vendor) (hostedSynthesizer, error) { return elevenlabs.NewSynthesizer(speaks(c)) },
		foreign:     func(c config.Vendor) (bool, bool) { return false, speaks(c).Foreign() },
	}
}

func sonioxVendor() Vendor {
	hears := func(c config.Vendor) soniox.Options {
		return soniox.Options{URL: c.RecognizerURL, KeyEnv: c.KeyEnv, Model: c.RecognizerModel}
	}
	speaks := func(c config.Vendor) soniox.Options {
		return soniox.Options{URL: c.SynthesizerURL, KeyEnv: c.KeyEnv, Model: c.SynthesizerModel, Voice: c.Voice}
	}
	return Vendor{
		Name: "soniox", KeyEnv: soniox.KeyEnv,
		Hears:       Hearing{Model: soniox.RecognizerModel, Partials: true, Words: true, Terms: true, Endpoints: true, Languages: "60 and more"},
		Speaks:      Speaking{Model: soniox.SynthesizerModel, Voice: soniox.DefaultVoice, Words: true, Cancel: "the stream", Rate: 24000, Languages: "60 and more"},
		of:          func(s *config.Speech) vendorKeys { return keysOf(&s.Soniox) },
		recognizer:  func(c config.Vendor) (hostedRecognizer, error) { return soniox.NewRecognizer(hears(c)) },
		synthesizer: func(c config.Vendor) (hostedSynthesizer, error) { return soniox.NewSynthesizer(speaks(c)) },
		foreign:     func(c config.Vendor) (bool, bool) { return hears(c).Foreign(), speaks(c).Foreign() },
	}
}

// vendorNamed returns a vendor by its name.
func vendorNamed(name string) (Vendor, bool) {
	all := Vendors()
	i := slices.IndexFunc(all, func(v Vendor) bool { return v.Name == name })
	if i < 0 {
		return Vendor{}, false
	}
	return all[i], true
}

// vendorProblems returns the problems of the sections of vendors.
func vendorProblems(c *config.Config) config.Problems {
	var all config.Problems
	for _, v := range Vendors() {
		key := "speech." + v.Name
		own := v.of(&c.Speech).get()
		if own == (config.Vendor{}) {
			continue
		}
		for _, f := range []struct{ name, value string }{{"recognizer_url", own.RecognizerURL}, {"synthesizer_url", own.SynthesizerURL}} {
			if f.value == "" {
				continue
			}
			if err := socket.CheckURL(f.value); err != nil {
				all = append(all, c.Problem(key+"."+f.name, err.Error()))
			}
		}
	}
	return all
}

func (v Vendor) hears() bool  { return v.recognizer != nil }
func (v Vendor) speaks() bool { return v.synthesizer != nil }

// foreignKeys returns an error if an agent's own file would send a vendor's key to another
// server.
func foreignKeys(c *config.Config) error {
	err := settings.Join(model.ForeignKey(c), foreignUpstreamKey(c))
	for _, v := range Vendors() {
		hears, speaks := v.foreign(v.of(&c.Speech).get())
		key := map[bool]string{true: "recognizer_url", false: "synthesizer_url"}[hears]
		if hears || speaks {
			err = settings.Join(err, config.Problems{c.Problem("speech."+v.Name+"."+key, "would get the key of "+v.Name+": only a config file (--config) may send it to another server")})
		}
	}
	return err
}

// ownConnections takes from an agent's settings what only the installation may set where there
// is a config: addresses of services and the names of keys.
func ownConnections(agent *config.Config, installation *config.Config) {
	for _, v := range Vendors() {
		to, from := v.of(&agent.Speech), v.of(&installation.Speech)
		*to.keyEnv, *to.recognizerURL, *to.synthesizerURL = *from.keyEnv, *from.recognizerURL, *from.synthesizerURL
	}
}

// yes returns how a table says that something is supported.
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "–"
}

// ModelsTable returns a table in Markdown of the vendors of language models.
func ModelsTable() string {
	var b strings.Builder
	b.WriteString("| thinks | `api` | key | host | a model |\n|---|---|---|---|---|\n")
	for _, v := range llm.Vendors() {
		api := v.API
		if v == llm.Vendors()[0] {
			api += "`, `" + llm.Responses
		}
		fmt.Fprintf(&b, "| %s | `%s` | `%s` | `%s` | `%s` |\n", v.Name, api, v.KeyEnv, v.Host(), v.Model)
	}
	return b.String()
}

// ProvidersTable returns a table in Markdown of the speech services that are reached over a
// network.
func ProvidersTable() string {
	var b strings.Builder
	b.WriteString("| hears | key | model | partials | word times | key terms | endpoint | end of turn | languages |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, v := range Vendors() {
		if h := v.Hears; v.hears() {
			fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s | %s | %s | %s | %s | %s |\n", v.Name, v.KeyEnv, h.Model,
				yes(h.Partials), yes(h.Words), yes(h.Terms), yes(h.Endpoints), cmp.Or(h.EndOfTurn, "–"), h.Languages)
		}
	}
	b.WriteString("\n| speaks | key | model | voice | word times | cancels | sound | languages |\n|---|---|---|---|---|---|---|---|\n")
	for _, v := range Vendors() {
		if s := v.Speaks; v.speaks() {
			model := "the voice"
			if s.Model != "" {
				model = "`" + s.Model + "`"
			}
			fmt.Fprintf(&b, "| `%s` | `%s` | %s | `%s` | %s | %s | %d kHz | %s |\n", v.Name, v.KeyEnv, model, s.Voice,
				yes(s.Words), s.Cancel, s.Rate/1000, s.Languages)
		}
	}
	return b.String()
}
