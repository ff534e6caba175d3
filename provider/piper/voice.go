package piper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/audio"
)

// settings are those of a voice, from the file beside it.
type settings struct {
	Audio struct {
		Rate int `json:"sample_rate"`
	} `json:"audio"`
	Espeak struct {
		Voice string `json:"voice"`
	} `json:"espeak"`
	Inference struct {
		Noise      float64 `json:"noise_scale"`
		Length     float64 `json:"length_scale"`
		NoiseWidth float64 `json:"noise_w"`
	} `json:"inference"`
	Kind     string             `json:"phoneme_type"`
	Phonemes map[string][]int64 `json:"phoneme_id_map"`
	Speakers int                `json:"num_speakers"`
}

// maxSettings bounds the bytes of the settings.
const maxSettings = 1 << 20

// The phonemes around a sentence and between its phonemes.
const (
	begin   = "^"
	end     = "$"
	between = "_"
)

func readSettings(path string) (*settings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("piper: the settings of the voice: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, fmt.Errorf("piper: the settings of the voice: %w", err)
	}
	s, err := parseSettings(data)
	if err != nil {
		return nil, fmt.Errorf("piper: %s: %w", path, err)
	}
	return s, nil
}

func parseSettings(data []byte) (*settings, error) {
	if len(data) > maxSettings {
		return nil, fmt.Errorf("more than %d bytes", maxSettings)
	}
	s := &settings{Kind: "espeak", Speakers: 1}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	switch {
	case s.Audio.Rate < audio.MinRate || s.Audio.Rate > audio.MaxRate:
		return nil, fmt.Errorf("sample_rate is %d: expected %d to %d", s.Audio.Rate, audio.MinRate, audio.MaxRate)
	case s.Kind != "espeak":
		return nil, fmt.Errorf("phoneme_type is %q: expected espeak", s.Kind)
	case s.Speakers > 1:
		return nil, fmt.Errorf("the voice has %d speakers: expected one", s.Speakers)
	case !voiceName(s.Espeak.Voice):
		return nil, fmt.Errorf("espeak.voice is %q: expected a name such as en-us", s.Espeak.Voice)
	}
	for _, v := range []float64{s.Inference.Noise, s.Inference.Length, s.Inference.NoiseWidth} {
		if !(v >= 0 && v <= 10) {
			return nil, fmt.Errorf("a scale of inference is %v: expected 0 to 10", v)
		}
	}
	if s.Inference.Length == 0 {
		return nil, errors.New("length_scale is 0: expected more")
	}
	for _, p := range []string{begin, end, between} {
		if len(s.Phonemes[p]) == 0 {
			return nil, fmt.Errorf("phoneme_id_map has no %q", p)
		}
	}
	for p, ids := range s.Phonemes {
		for _, id := range ids {
			if id < 0 || id > math.MaxInt16 {
				return nil, fmt.Errorf("phoneme_id_map: %q is %d: expected 0 to %d", p, id, math.MaxInt16)
			}
		}
	}
	return s, nil
}

// voiceName reports whether a text is the name of a voice of espeak-ng, so that it cannot be
// mistaken for a flag.
func voiceName(s string) bool {
	ok := s != "" && s[0] != '-'
	for _, r := range s {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_+", r))
	}
	return ok
}

// numbers returns the numbers of phonemes, as the network takes them. Phonemes that the voice
// does not know are left out.
func (s *settings) numbers(phonemes string) []int64 {
	out := append([]int64(nil), s.Phonemes[begin]...)
	out = append(out, s.Phonemes[between]...)
	for i, r := range phonemes {
		if r == utf8.RuneError {
			continue
		}
		ids := s.Phonemes[phonemes[i:i+utf8.RuneLen(r)]]
		if len(ids) > 0 {
			out = append(append(out, ids...), s.Phonemes[between]...)
		}
	}
	return append(out, s.Phonemes[end]...)
}

// plain removes the marks of a change of the language from phonemes: "(en)".
func plain(phonemes string) string {
	var b strings.Builder
	for phonemes != "" {
		at := strings.IndexByte(phonemes, '(')
		if at < 0 {
			break
		}
		b.WriteString(phonemes[:at])
		if to := strings.IndexByte(phonemes[at:], ')'); to >= 0 {
			phonemes = phonemes[at+to+1:]
		} else {
			phonemes = phonemes[at+1:]
		}
	}
	b.WriteString(phonemes)
	return strings.Join(strings.Fields(b.String()), " ")
}
