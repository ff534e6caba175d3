package dialog

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed lang/*.json
var languageFiles embed.FS

// languageData is a lang/<tag>.json file: the words of a language, as data.
type languageData struct {
	Phonetic string `json:"phonetic"` // "metaphone" or "cologne"
	Currency string `json:"currency"`
	Decimal  string `json:"decimal"`
	DayFirst bool   `json:"day_first"`

	Fillers          []string            `json:"fillers"`
	Polite           []string            `json:"polite"`
	Carriers         []string            `json:"carriers"`
	StringCarriers   []string            `json:"string_carriers"`
	Light            []string            `json:"light"`
	Prefixes         []string            `json:"prefixes"`
	Yes              []string            `json:"yes"`
	No               []string            `json:"no"`
	YesNoLight       []string            `json:"yes_no_light"`
	Commands         map[string][]string `json:"commands"`
	HandoffWithin    []string            `json:"handoff_within"`
	CancelVerbs      []string            `json:"cancel_verbs"`
	CorrectionStrong []string            `json:"correction_strong"`
	CorrectionWeak   []string            `json:"correction_weak"`
	ChangeVerbs      []string            `json:"change_verbs"`
	Not              []string            `json:"not"`
	Assign           []string            `json:"assign"`
	SoftMarkers      []string            `json:"soft_markers"`
	Questions        []string            `json:"questions"`
	Articles         []string            `json:"articles"`
	FillersAfter     []string            `json:"fillers_after"`
	Roles            []roleData          `json:"roles"`
	Synonyms         [][]string          `json:"synonyms"`   // words of one meaning
	NotWanted        []string            `json:"not_wanted"` // before a wish that is none
	Negations        []string            `json:"negations"`  // words that make a sentence say the opposite
	Others           []string            `json:"others"`     // of what was found, another is wanted
	Tells            []string            `json:"tells"`      // before what somebody wants to know
	TypeNames        map[string][]string `json:"type_names"` // what people call a slot of the type
	TypeCues         map[string][]string `json:"type_cues"`
	TrailingLight    map[string][]string `json:"trailing_light"`

	Numbers    numberData              `json:"numbers"`
	Calendar   calendarData            `json:"calendar"`
	Clock      clockData               `json:"clock"`
	Spelling   spellingData            `json:"spelling"`
	Currencies map[string]currencyData `json:"currencies"`
	Render     renderData              `json:"render"`
	Grammar    grammarData             `json:"grammar"`
	Background []string                `json:"background"`
}

// roleData ties the words before a value ("from Boston") to slots by the words
// in their names.
type roleData struct {
	Names    []string `json:"names"`    // words in slots' names
	Mentions []string `json:"mentions"` // what people call such a slot
	Cues     []string `json:"cues"`
}

// language is a compiled language. It never changes once made, so that any
// number of goroutines may use it.
type language struct {
	tag      string
	data     languageData
	messages map[string][]string

	fillers, polite, carriers, stringCarriers *phraseTable
	light, prefixes, articles, fillersAfter   *phraseTable
	yesNo                                     *phraseTable // 0 yes, 1 no, 2 light
	commands                                  *phraseTable // index into commandWords
	commandSets                               map[string]*phraseTable
	handoffWithin, cancelVerbs                *phraseTable
	strong, weak, changeVerbs, not, assign    *phraseTable
	soft, questions, notWanted, tells, others *phraseTable
	synonyms                                  *phraseTable   // class of a phrase
	classes                                   map[string]int // of a stem
	classNames                                []string
	negations                                 map[string]bool
	typeCues, trailingLight                   map[string]*phraseTable

	numbers  numberWords
	calendar calendarWords
	clock    clockWords
	spelling spellingWords
	money    moneyWords
}

// commandWords orders the universal commands: of two that share a phrase, the
// earlier wins. "skip", "retry", "thanks", "hello" and "wait" depend on the
// moment and have sets of their own.
var commandWords = [...]string{"cancel", "restart", "repeat", "clarify", "options", "help", "handoff", "goodbye"}

// Languages lists the languages that the package has words for.
func Languages() []string {
	entries, err := languageFiles.ReadDir("lang")
	if err != nil {
		return nil // cannot happen: the directory is embedded
	}
	var tags []string
	for _, e := range entries {
		if tag := strings.TrimSuffix(e.Name(), ".json"); !strings.Contains(tag, ".") {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	return tags
}

// languageTag finds the embedded language for a BCP 47 tag: "de-AT" is "de".
func languageTag(tag string) (string, bool) {
	tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-"))
	if tag == "" {
		return "en", true
	}
	if cut := strings.IndexByte(tag, '-'); cut >= 0 {
		tag = tag[:cut]
	}
	return tag, slices.Contains(Languages(), tag)
}

// loadLanguage compiles the embedded files of a language.
func loadLanguage(tag string) (*language, error) {
	l := &language{tag: tag}
	if err := decodeEmbedded("lang/"+tag+".json", &l.data); err != nil {
		return nil, err
	}
	if err := decodeEmbedded("lang/"+tag+".messages.json", &l.messages); err != nil {
		return nil, err
	}
	d := &l.data
	l.fillers = newPhraseTable(d.Fillers)
	l.polite = newPhraseTable(d.Polite)
	l.carriers = newPhraseTable(d.Carriers)
	l.stringCarriers = newPhraseTable(d.StringCarriers)
	l.light = newPhraseTable(d.Light)
	l.prefixes = newPhraseTable(d.Prefixes)
	l.articles = newPhraseTable(d.Articles)
	l.fillersAfter = newPhraseTable(d.FillersAfter)
	l.yesNo = newPhraseTable(d.Yes, d.No, d.YesNoLight)
	var lists [][]string
	l.commandSets = make(map[string]*phraseTable)
	for _, name := range commandWords {
		lists = append(lists, d.Commands[name])
	}
	l.commands = newPhraseTable(lists...)
	for name, list := range d.Commands {
		l.commandSets[name] = newPhraseTable(list)
	}
	l.handoffWithin = newPhraseTable(d.HandoffWithin)
	l.cancelVerbs = newPhraseTable(d.CancelVerbs)
	l.strong = newPhraseTable(d.CorrectionStrong)
	l.weak = newPhraseTable(d.CorrectionWeak)
	l.changeVerbs = newPhraseTable(d.ChangeVerbs)
	l.not = newPhraseTable(d.Not)
	l.assign = newPhraseTable(d.Assign)
	l.soft = newPhraseTable(d.SoftMarkers)
	l.questions = newPhraseTable(d.Questions)
	l.notWanted = newPhraseTable(d.NotWanted)
	l.negations = make(map[string]bool)
	for _, w := range d.Negations {
		l.negations[foldText(w)] = true
	}
	l.others = newPhraseTable(d.Others)
	l.tells = newPhraseTable(d.Tells)
	l.compileSynonyms()
	l.typeCues = make(map[string]*phraseTable)
	for name, list := range d.TypeCues {
		l.typeCues[name] = newPhraseTable(list)
	}
	l.trailingLight = make(map[string]*phraseTable)
	for name, list := range d.TrailingLight {
		l.trailingLight[name] = newPhraseTable(list)
	}
	l.numbers = d.Numbers.compile()
	l.calendar = d.Calendar.compile()
	l.clock = d.Clock.compile()
	l.spelling = d.Spelling.compile()
	l.money = compileMoney(d.Currencies)
	return l, nil
}

func decodeEmbedded(name string, v any) error {
	file, err := languageFiles.ReadFile(name)
	if err != nil {
		return fmt.Errorf("language: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("language file %s: %w", name, err)
	}
	return nil
}

// wrong reports whether something is to be changed: "that's not right", but not
// "not right now".
func (l *language) wrong(toks []token) bool {
	for i := range toks {
		if _, n := l.changeVerbs.at(toks, i); n > 0 {
			if _, m := l.yesNo.at(toks, i); m <= n {
				return true
			}
		}
	}
	return false
}

// trim drops fillers and words of politeness at both ends.
func (l *language) trim(toks []token) []token {
	for {
		n := len(toks)
		toks = l.fillers.trimLeft(toks)
		toks = l.polite.trimLeft(toks)
		toks = l.fillers.trimRight(toks)
		toks = l.polite.trimRight(toks)
		if len(toks) == n {
			return toks
		}
	}
}

// foldMap folds the keys of a map of words.
func foldMap[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	for _, k := range sortedKeys(m) {
		out[foldText(k)] = m[k]
	}
	return out
}

// sortedKeys are the keys of a map in order, so that nothing depends on the
// order of maps.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
