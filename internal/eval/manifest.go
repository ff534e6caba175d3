package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/yamlfile"
)

// ManifestName is the name of the manifest in a folder of recordings.
const ManifestName = "eval.yaml"

// The kinds of recordings.
const (
	KindSpeech       = "speech"       // free speech
	KindAnswer       = "answer"       // to the question for a slot of [Slots]
	KindInterruption = "interruption" // said over the agent to stop it
	KindBackchannel  = "backchannel"  // said over the agent to show attention
	KindNoise        = "noise"        // nobody speaks
	KindRoom         = "room"         // the impulse response of a room
)

// The splits of the data.
const (
	Unseen = "unseen" // by whoever chose the parameters of the engine
	Seen   = "seen"
)

// Span is a section of a recording.
type Span struct{ From, To time.Duration }

// Recording is an entry of a manifest.
type Recording struct {
	Path    string // of the sound
	Set     string
	Kind    string
	Split   string
	Speaker string
	Text    string          // what is said; empty if unknown
	Slot    string          // of an answer
	Value   string          // of an answer, in the agent's words
	Speech  []Span          // sections with speech; nil if unknown
	Pauses  []time.Duration // places at which the speaker may hesitate
}

// Manifest describes recordings.
type Manifest struct {
	Name       string
	Path       string
	Recordings []Recording
}

// Of returns the recordings of the kinds.
func (m *Manifest) Of(kinds ...string) []Recording {
	var out []Recording
	for _, r := range m.Recordings {
		if slices.Contains(kinds, r.Kind) {
			out = append(out, r)
		}
	}
	return out
}

// Sample returns a manifest with at most n recordings of each set, evenly chosen; n = 0 keeps
// all.
func (m *Manifest) Sample(n int) *Manifest {
	out := *m
	out.Recordings = nil
	bySet := map[string]int{}
	for _, r := range m.Recordings {
		bySet[r.Set]++
	}
	at := map[string]int{}
	for _, r := range m.Recordings {
		i, all := at[r.Set], bySet[r.Set]
		at[r.Set]++
		if n == 0 || all <= n || i*n/all != (i+1)*n/all {
			out.Recordings = append(out.Recordings, r)
		}
	}
	return &out
}

// LoadManifest reads a manifest: path is the file, or the folder with eval.yaml. Errors begin
// with the file and the line.
func LoadManifest(path string) (*Manifest, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ManifestName)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		if p, ok := errors.AsType[*os.PathError](err); ok {
			return nil, fmt.Errorf("%s: %w", p.Path, p.Err)
		}
		return nil, err
	}
	m, err := ParseManifest(path, data)
	if err != nil {
		return nil, err
	}
	for _, r := range m.Recordings {
		switch info, err := os.Stat(r.Path); {
		case err != nil:
			return nil, fmt.Errorf("%s: the recording %s is not there", path, r.Path)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s: the recording %s is not a file", path, r.Path)
		}
	}
	return m, nil
}

// manifestLimits bound a manifest: 20,000 recordings and more.
var manifestLimits = yamlfile.Limits{Bytes: 8 << 20, Depth: 12}

// ParseManifest reads a manifest, YAML or JSON, without looking for the recordings.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	p := manifestParser{file: path}
	docs, err := yamlfile.Read(data, manifestLimits)
	if err != nil {
		if e, ok := errors.AsType[*yamlfile.Error](err); ok {
			return nil, fmt.Errorf("%s:%d: %w", path, max(e.Line, 1), err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s: %d documents: expected one manifest", path, len(docs))
	}
	m := &Manifest{Path: path}
	if whole, err := filepath.Abs(path); err == nil { // the folder may be "."
		m.Name = filepath.Base(filepath.Dir(whole))
	}
	folder := ""
	var sets []yamlfile.Node
	p.mapping(&docs[0], "the manifest", keys{
		"name":   p.text(&m.Name),
		"folder": p.text(&folder),
		"sets":   func(n *yamlfile.Node) { sets = p.list(n, "sets") },
	})
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(filepath.Dir(path), filepath.FromSlash(folder))
	}
	for i := range sets {
		p.set(m, folder, &sets[i])
	}
	if p.err == nil && len(m.Recordings) == 0 {
		p.fail(&docs[0], "sets: expected at least one set with a recording")
	}
	if p.err != nil {
		return nil, p.err
	}
	return m, nil
}

// keys are the keys of a mapping, with what reads their values.
type keys map[string]func(*yamlfile.Node)

// manifestParser keeps the first error.
type manifestParser struct {
	file string
	err  error
}

func (p *manifestParser) fail(n *yamlfile.Node, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%s:%d: %w", p.file, max(n.Line, 1), fmt.Errorf(format, args...))
	}
}

func (p *manifestParser) mapping(n *yamlfile.Node, what string, ks keys) {
	if n.Kind != yamlfile.Mapping {
		p.fail(n, "%s must be keys and values", what)
		return
	}
	for i := range n.Pairs {
		key := &n.Pairs[i].Key
		if slices.ContainsFunc(n.Pairs[:i], func(o yamlfile.Pair) bool { return o.Key.Text == key.Text }) {
			p.fail(key, "%s is set twice", key.Text)
			return
		}
		read := ks[key.Text]
		if read == nil {
			p.fail(key, "unknown key %s", strconv.Quote(key.Text))
			return
		}
		read(&n.Pairs[i].Value)
	}
}

func (p *manifestParser) list(n *yamlfile.Node, what string) []yamlfile.Node {
	if n.Kind != yamlfile.Sequence {
		p.fail(n, "%s must be a list", what)
		return nil
	}
	return n.Items
}

func (p *manifestParser) text(to *string) func(*yamlfile.Node) {
	return func(n *yamlfile.Node) {
		switch n.Kind {
		case yamlfile.Text, yamlfile.Number, yamlfile.Bool:
			*to = n.Text
		default:
			p.fail(n, "must be a text")
		}
	}
}

// seconds reads a position in a recording.
func (p *manifestParser) seconds(n *yamlfile.Node) time.Duration {
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || n.Kind != yamlfile.Number || v < 0 || v > 24*3600 {
		p.fail(n, "%q is not a position: expected seconds from the beginning of the recording", n.Text)
		return 0
	}
	return time.Duration(v * float64(time.Second))
}

func (p *manifestParser) speech(to *[]Span) func(*yamlfile.Node) {
	return func(n *yamlfile.Node) {
		*to = []Span{}
		for _, item := range p.list(n, "speech") {
			ends := p.list(&item, "a section of speech")
			if len(ends) != 2 {
				p.fail(&item, "a section of speech must be [from, to] in seconds")
				return
			}
			s := Span{p.seconds(&ends[0]), p.seconds(&ends[1])}
			if s.To <= s.From || len(*to) > 0 && s.From < (*to)[len(*to)-1].To {
				p.fail(&item, "the sections of speech must be in order and must not overlap")
				return
			}
			*to = append(*to, s)
		}
	}
}

func (p *manifestParser) pauses(to *[]time.Duration) func(*yamlfile.Node) {
	return func(n *yamlfile.Node) {
		*to = nil
		for _, item := range p.list(n, "pauses") {
			at := p.seconds(&item)
			if len(*to) > 0 && at <= (*to)[len(*to)-1] {
				p.fail(&item, "the pauses must be in order")
				return
			}
			*to = append(*to, at)
		}
	}
}

// shared returns the keys that a set gives to its recordings, and that each may override.
func (p *manifestParser) shared(r *Recording) keys {
	return keys{
		"kind": p.text(&r.Kind), "split": p.text(&r.Split), "speaker": p.text(&r.Speaker),
		"text": p.text(&r.Text), "slot": p.text(&r.Slot), "value": p.text(&r.Value),
	}
}

func (p *manifestParser) set(m *Manifest, folder string, n *yamlfile.Node) {
	base := Recording{Split: Unseen}
	sub := ""
	var items []yamlfile.Node
	ks := p.shared(&base)
	ks["name"] = p.text(&base.Set)
	ks["folder"] = p.text(&sub)
	ks["recordings"] = func(n *yamlfile.Node) { items = p.list(n, "recordings") }
	p.mapping(n, "a set", ks)
	if base.Set == "" {
		p.fail(n, "a set must have a name")
	}
	for i := range items {
		r, file := base, ""
		ks := p.shared(&r)
		ks["file"] = p.text(&file)
		ks["speech"] = p.speech(&r.Speech)
		ks["pauses"] = p.pauses(&r.Pauses)
		p.mapping(&items[i], "a recording", ks)
		r.Path = filepath.Join(folder, filepath.FromSlash(sub), filepath.FromSlash(file))
		p.check(&items[i], &r, file)
		m.Recordings = append(m.Recordings, r)
	}
}

// check reports what a recording lacks.
func (p *manifestParser) check(n *yamlfile.Node, r *Recording, file string) {
	all := []string{KindSpeech, KindAnswer, KindInterruption, KindBackchannel, KindNoise, KindRoom}
	_, known := kinds[r.Slot]
	switch {
	case file == "":
		p.fail(n, "a recording must have a file")
	case !filepath.IsLocal(filepath.FromSlash(file)):
		p.fail(n, "the file %s must be in the folder of its set", file)
	case !slices.Contains(all, r.Kind):
		p.fail(n, "the kind is %q: must be one of %s", r.Kind, strings.Join(all, ", "))
	case r.Split != Seen && r.Split != Unseen:
		p.fail(n, "the split is %q: must be %s or %s", r.Split, Seen, Unseen)
	case r.Kind == KindAnswer && !known:
		var slots []string
		for s := range kinds {
			slots = append(slots, s)
		}
		slices.Sort(slots)
		p.fail(n, "the slot is %q: must be one of %s", r.Slot, strings.Join(slots, ", "))
	case r.Kind == KindNoise && len(r.Speech) > 0:
		p.fail(n, "a noise must have no speech")
	}
}
