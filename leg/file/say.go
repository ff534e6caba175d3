package file

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// pause matches a pause in a caller's text: "one two [800ms] three".
var pause = regexp.MustCompile(`\[(\d+(?:\.\d+)?m?s)\]`)

// longestPause bounds the length of such a pause.
const longestPause = 30 * time.Second

// Say synthesizes an [Utterance] for each text at [DefaultRate]. voice is the
// synthesizer's name for a voice, or empty for its default. A text may contain
// pauses of up to 30 s: "one two [800ms] three".
func Say(ctx context.Context, s port.Synthesizer, voice string, texts ...string) ([]Utterance, error) {
	utterances := make([]Utterance, 0, len(texts))
	for _, text := range texts {
		pcm, err := say(ctx, s, voice, text)
		if err != nil {
			return nil, fmt.Errorf("say %q: %w", text, err)
		}
		utterances = append(utterances, Utterance{PCM: pcm})
	}
	return utterances, nil
}

func say(ctx context.Context, s port.Synthesizer, voice, text string) (pcm []int16, err error) {
	rest := text
	for rest != "" {
		words, silence := rest, time.Duration(0)
		at := pause.FindStringSubmatchIndex(rest)
		if at == nil {
			rest = ""
		} else {
			if silence, err = time.ParseDuration(rest[at[2]:at[3]]); err != nil || silence > longestPause {
				return nil, fmt.Errorf("pause [%s] must be at most %v", rest[at[2]:at[3]], longestPause)
			}
			words, rest = rest[:at[0]], rest[at[1]:]
		}
		if strings.TrimSpace(words) != "" {
			err := s.Speak(ctx, port.Utterance{Text: words, Voice: voice}, func(p port.Speech) error {
				pcm = append(pcm, p.PCM...)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		pcm = append(pcm, make([]int16, audio.PosOf(silence, s.Rate()))...)
	}
	if len(pcm) == 0 {
		return nil, errors.New("the text has no words")
	}
	if s.Rate() == DefaultRate {
		return pcm, nil
	}
	return audio.Resample(pcm, s.Rate(), DefaultRate)
}
