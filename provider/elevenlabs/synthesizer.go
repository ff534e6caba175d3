package elevenlabs

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/internal/hosted"
	"github.com/hocketvoice/hocket/internal/socket"
	"github.com/hocketvoice/hocket/port"
)

// maxContexts is the number of texts that a connection may have at a time.
const maxContexts = 5

// inactivity is the time in seconds without a message after which the service closes a
// connection: the longest.
const inactivity = "180"

// NewSynthesizer returns a synthesizer. The caller must close it.
func NewSynthesizer(o Options) (*hosted.Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	access := o.access()
	dialer, header, err := access.Open()
	if err != nil {
		return nil, err
	}
	o.Model, o.Voice, o.Rate = cmp.Or(o.Model, SynthesizerModel), cmp.Or(o.Voice, DefaultVoice), cmp.Or(o.Rate, 24000)
	address := func(u port.Utterance) string { return o.address(access.Where(), u) }
	return hosted.NewSynthesizer(hosted.SynthesizerOptions{
		Dialer: dialer, Rate: o.Rate, Texts: maxContexts, Same: address,
		Line: func(u port.Utterance) (hosted.VoiceLine, error) {
			return hosted.VoiceLine{URL: address(u), Header: header, Speaking: &speaking{rate: o.Rate, fail: dialer.Failure}}, nil
		},
	}), nil
}

// address returns the address of connections for texts like u.
func (o Options) address(base string, u port.Utterance) string {
	where, err := url.Parse(base)
	if err != nil {
		return base // Dial returns the error
	}
	q := url.Values{
		"model_id": {o.Model}, "output_format": {"pcm_" + strconv.Itoa(o.Rate)}, "auto_mode": {"true"},
		"sync_alignment": {"true"}, "inactivity_timeout": {inactivity},
	}
	if u.Language != "" && speaksAs(o.Model) {
		q.Set("language_code", hosted.Primary(u.Language))
	}
	return socket.WithQuery(where.JoinPath(url.PathEscape(cmp.Or(u.Voice, o.Voice)), "multi-stream-input").String(), q)
}

// speaksAs reports whether a model can be told the language. The others find it out, and
// refuse to be told.
func speaksAs(model string) bool {
	return slices.ContainsFunc([]string{"eleven_flash_v2_5", "eleven_turbo_v2_5"}, func(m string) bool { return strings.EqualFold(m, model) })
}
