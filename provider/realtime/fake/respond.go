package fake

import (
	"context"
	"iter"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// response is an answer that is being made.
type response struct {
	se     *session
	id     string
	aside  bool
	params wire.CreateParams
	state  wire.Session

	once   sync.Once
	donec  chan struct{} // closed when the answer is cancelled
	reason string        // why
}

// stop cancels the answer.
func (r *response) stop(reason string) {
	r.once.Do(func() {
		r.reason = reason
		close(r.donec)
	})
}

// respond begins an answer.
func (se *session) respond(ctx context.Context, p wire.CreateParams) *wire.Error {
	r := &response{se: se, id: se.id("resp"), aside: p.OutOfBand, params: p, state: se.session(), donec: make(chan struct{})}
	for _, it := range p.Input {
		if it.Type != wire.ItemReference {
			continue
		}
		if _, there := se.find(it.ID); !there {
			return wire.Invalid(wire.CodeItemReference, "response.input", "Error creating response: the item with id '%s' does not exist.", it.ID)
		}
	}
	se.mu.Lock()
	if !r.aside && se.active != nil {
		id := se.active.id
		se.mu.Unlock()
		return wire.Invalid(wire.CodeActiveResponse, "", "Conversation already has an active response in progress: %s. Wait until the response is finished before creating a new one.", id)
	}
	if r.aside {
		se.asides = append(se.asides, r)
	} else {
		se.active = r
	}
	se.mu.Unlock()
	limits, refused := se.server.limited()
	se.work.Go(func() { r.run(ctx, limits, refused) })
	return nil
}

// cancel cancels an answer.
func (se *session) cancel(id string) *wire.Error {
	se.mu.Lock()
	r := se.active
	for _, a := range se.asides {
		if a.id == id {
			r = a
		}
	}
	se.mu.Unlock()
	if r == nil || id != "" && r.id != id {
		return wire.Invalid(wire.CodeNotActive, "", "Cancellation failed: no active response found")
	}
	r.stop("client_cancelled")
	return nil
}

// shape returns the answer as events show it.
func (r *response) shape(status string) wire.Response {
	w := wire.Response{
		ID: r.id, Status: status, Metadata: r.params.Metadata, OutputModalities: r.modalities(), Voice: r.state.Output.Voice,
		Format: r.state.Output.Format, ConversationID: "conv_1",
	}
	if r.se.server.NoMetadata {
		w.Metadata = nil
	}
	if r.aside {
		w.ConversationID = ""
	}
	return w
}

func (r *response) modalities() []string {
	if r.params.OutputModalities != nil {
		return r.params.OutputModalities
	}
	return r.state.OutputModalities
}

// run makes the answer.
func (r *response) run(ctx context.Context, limits []wire.RateLimit, refused bool) {
	se := r.se
	se.tell(ctx, wire.ResponseEvent{Name: "created", Response: r.shape("in_progress")})
	done := r.shape("completed")
	if refused {
		done.Status = "failed"
		done.Details = &wire.StatusDetails{Type: "failed", Error: &wire.ResponseError{Type: "requests", Code: wire.CodeRateLimit, Message: "Rate limit reached for requests."}}
		se.tell(ctx, wire.RateLimits{RateLimits: limits})
	} else {
		r.make(ctx, &done)
	}
	if done.Status == "cancelled" {
		done.Details = &wire.StatusDetails{Type: "cancelled", Reason: r.reason}
	}
	done.Usage = &wire.Usage{OutputAudio: 10}
	se.mu.Lock()
	if se.active == r {
		se.active = nil
	}
	se.asides = slices.DeleteFunc(se.asides, func(o *response) bool { return o == r })
	se.mu.Unlock()
	se.tell(ctx, wire.ResponseEvent{Name: "done", Response: done})
	se.tell(ctx, wire.RateLimits{RateLimits: limits})
}

// make makes the items of the answer and sets how it ended.
func (r *response) make(ctx context.Context, done *wire.Response) {
	se := r.se
	req := Request{Session: se.number, Aside: r.aside, Instructions: r.state.Instructions, Items: se.conversation(), Tools: r.state.Tools}
	if r.params.Instructions != nil {
		req.Instructions = *r.params.Instructions
	}
	if r.params.InputSet {
		req.Items = r.params.Input
	}
	a := se.server.answer(req)
	if a.Early != nil {
		a.Early()
	}
	if !r.wait(ctx, a.First) {
		done.Status = "cancelled"
		return
	}
	if a.Raw != "" {
		_ = se.ws.Write(ctx, 1, []byte(a.Raw)) // the client may have gone
	}
	index := 0
	if a.Text != "" {
		status := r.say(ctx, a, &done.Output)
		index++
		if status != wire.Completed {
			done.Status = "cancelled"
			return
		}
	}
	for _, c := range a.Calls {
		r.call(ctx, c, index, &done.Output)
		index++
	}
	switch {
	case a.Fail != nil:
		done.Status, done.Details = "failed", &wire.StatusDetails{Type: "failed", Error: a.Fail}
	case a.Filtered:
		done.Status, done.Details = "incomplete", &wire.StatusDetails{Type: "incomplete", Reason: "content_filter"}
	}
}

// wait pauses the answer. It returns false if the answer is cancelled meanwhile.
func (r *response) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.donec:
		return false
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	select {
	case <-r.donec:
		return false
	default:
		return true
	}
}

// perByte is how long the agent speaks for a byte of text.
const perByte = 60 * time.Millisecond

// Spoken returns how long an answer with a text sounds.
func Spoken(text string) time.Duration { return time.Duration(len(text)) * perByte }

// say speaks a text and returns the status of its item.
func (r *response) say(ctx context.Context, a Answer, output *[]wire.Item) (status string) {
	se := r.se
	spoken := slices.Contains(r.modalities(), "audio")
	kind := wire.OutputText
	if spoken {
		kind = wire.OutputAudio
	}
	it := wire.Item{ID: se.id("item"), Type: wire.Message, Status: "in_progress", Role: "assistant"}
	se.tell(ctx, wire.OutputItem{Name: "added", ResponseID: r.id, Item: it})
	if !r.aside {
		se.add(ctx, it, false)
	}
	place := wire.Place{ResponseID: r.id, ItemID: it.ID}
	se.tell(ctx, wire.Part{Name: "added", Place: place, Content: wire.PartContent{Audio: spoken}})
	said, status := "", wire.Completed
	rate := r.state.Output.Format.SampleRate()
	piece := int(200 * time.Millisecond / perByte) // bytes of text
	n := 0
	for text := range pieces(a.Text, piece) {
		if n > 0 && !r.wait(ctx, a.Gap) || n == 0 && !r.wait(ctx, 0) {
			status = wire.Incomplete
			break
		}
		if n++; a.Cut && len(said) > len(a.Text)/2 {
			_ = se.ws.CloseNow()
			return wire.Incomplete
		}
		said += text
		se.tell(ctx, wire.WordsDelta{Audio: spoken, Place: place, Delta: text})
		if spoken {
			se.mu.Lock()
			se.voiced = true
			se.sounds[it.ID] += int(Spoken(text).Milliseconds())
			se.mu.Unlock()
			se.tell(ctx, wire.AudioDelta{Place: place, Delta: r.encode(tone(rate, Spoken(text)))})
		}
	}
	if spoken {
		se.tell(ctx, wire.AudioDone{Place: place})
	}
	se.tell(ctx, wire.WordsDone{Audio: spoken, Place: place, Words: said})
	se.tell(ctx, wire.Part{Name: "done", Place: place, Content: wire.PartContent{Audio: spoken, Words: said}})
	it.Status = status
	it.Content = []wire.Content{{Type: kind, Text: said}}
	if spoken {
		it.Content = []wire.Content{{Type: kind, Transcript: &said}}
	}
	if !r.aside {
		se.set(it)
		se.tell(ctx, wire.ItemEvent{Name: "done", Item: it})
	}
	se.tell(ctx, wire.OutputItem{Name: "done", ResponseID: r.id, Item: it})
	*output = append(*output, it)
	return status
}

// call calls a tool.
func (r *response) call(ctx context.Context, c Call, index int, output *[]wire.Item) {
	se := r.se
	it := wire.Item{ID: se.id("item"), Type: wire.FunctionCall, Status: "in_progress", CallID: c.ID, Name: c.Name}
	se.tell(ctx, wire.OutputItem{Name: "added", ResponseID: r.id, OutputIndex: index, Item: it})
	if !r.aside {
		se.mu.Lock()
		se.calls[c.ID] = true
		se.mu.Unlock()
		se.add(ctx, it, false)
	}
	for piece := range pieces(c.Arguments, 7) {
		se.tell(ctx, wire.ArgumentsDelta{ResponseID: r.id, ItemID: it.ID, OutputIndex: index, CallID: c.ID, Delta: piece})
	}
	se.tell(ctx, wire.ArgumentsDone{ResponseID: r.id, ItemID: it.ID, OutputIndex: index, CallID: c.ID, Name: c.Name, Arguments: c.Arguments})
	it.Status, it.Arguments = wire.Completed, c.Arguments
	if !r.aside {
		se.set(it)
		se.tell(ctx, wire.ItemEvent{Name: "done", Item: it})
	}
	se.tell(ctx, wire.OutputItem{Name: "done", ResponseID: r.id, OutputIndex: index, Item: it})
	*output = append(*output, it)
}

// encode returns samples in the format of the session.
func (r *response) encode(pcm []int16) []byte {
	switch r.state.Output.Format.Type {
	case wire.PCMU:
		return audio.MuLaw.AppendEncode(nil, pcm)
	case wire.PCMA:
		return audio.ALaw.AppendEncode(nil, pcm)
	}
	b := make([]byte, 0, 2*len(pcm))
	for _, v := range pcm {
		b = append(b, byte(v), byte(uint16(v)>>8))
	}
	return b
}

// tone returns a sound.
func tone(rate int, d time.Duration) []int16 {
	pcm := make([]int16, audio.PosOf(d, rate))
	for i := range pcm {
		pcm[i] = int16(6000*math.Sin(2*math.Pi*330*float64(i)/float64(rate))) | 1
	}
	return pcm
}

// pieces divides a text into pieces of at most n bytes, between characters.
func pieces(text string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := min(n, len(text))
			for end < len(text) && text[end]&0xC0 == 0x80 {
				end++
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// sleep pauses. It returns false if ctx ends meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
