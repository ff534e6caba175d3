package value

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed lang/*.json
var languageFiles embed.FS

// languageData is the content of a lang/<tag>.json file: the words of a language.
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
	StatedRight      []string            `json:"stated_right"` // those of yes that call a statement right
	Praise           []string            `json:"praise"`       // those of yes that may be about anything
	Opinions         []string            `json:"opinions"`     // first words of what one thinks: "that sounds"
	No               []string            `json:"no"`
	YesNoLight       []string            `json:"yes_no_light"`
	Commands         map[string][]string `json:"commands"`
	HandoffWithin    []string            `json:"handoff_within"`
	CancelVerbs      []string            `json:"cancel_verbs"`
	CorrectionStrong []string            `json:"correction_strong"`
	Conditions       []string            `json:"conditions"`  // before a condition: "if"
	States           []string            `json:"states"`      // between a thing and what it is: "is"
	PastStates       []string            `json:"past_states"` // between a thing and what it was
	Choosing         []string            `json:"choosing"`    // those of correction_strong that may also answer a question
	CorrectionWeak   []string            `json:"correction_weak"`
	ChangeVerbs      []string            `json:"change_verbs"`
	Not              []string            `json:"not"`
	Joins            []string            `json:"joins"`          // between two requests
	Interrogatives   []string            `json:"interrogatives"` // first words of a request for information
	DoNot            []string            `json:"do_not"`         // before a verb: "don't send it"
	Keep             []string            `json:"keep"`           // a no to a change: "keep it"
	Hedges           []string            `json:"hedges"`         // words that make a yes doubtful: "I guess"
	Indefinite       []string            `json:"indefinite"`     // words in place of a value, which belong to no flow
	Denials          []string            `json:"denials"`        // before a verb that is not a request: "never cancel it"
	Wishes           []string            `json:"wishes"`         // between a denial and its verb: "don't want to cancel"
	Exceptions       []string            `json:"exceptions"`     // before a value that is not meant: "except Monday"
	DeniedAfter      []string            `json:"denied_after"`   // after a value that is not meant: "Monday doesn't work"
	Clauses          []string            `json:"clauses"`        // first words of another clause: "not Monday but .."
	Asked            []string            `json:"asked"`          // words that make a denial a question: "can't you"
	Polar            []string            `json:"polar"`          // first words of a yes-or-no question: "did", "have you"
	TypedYes         []string            `json:"typed_yes"`      // whole messages
	TypedNo          []string            `json:"typed_no"`
	Also             []string            `json:"also"`          // before a further request
	OutsideNames     []string            `json:"outside_names"` // never part of a name: "if", "every month"
	Assign           []string            `json:"assign"`
	SoftMarkers      []string            `json:"soft_markers"`
	Questions        []string            `json:"questions"`
	Pronouns         []string            `json:"pronouns"` // of those who speak: "I", "we'd"
	Articles         []string            `json:"articles"`
	Unfinished       []string            `json:"unfinished"`    // last words of a sentence that goes on: "from", "um"
	Continuations    map[string][]string `json:"continuations"` // by type: words that may follow a value and change it
	FillersAfter     []string            `json:"fillers_after"`
	Roles            []roleData          `json:"roles"`
	Synonyms         [][]string          `json:"synonyms"`   // classes of words with the same meaning
	NotWanted        []string            `json:"not_wanted"` // before what the user does not want
	Negations        []string            `json:"negations"`  // words that negate a sentence
	Others           []string            `json:"others"`     // requests for another result
	Closing          []string            `json:"closing"`    // after a farewell: "that's all for now"
	Again            []string            `json:"again"`      // what was done is wanted once more: "book it again"
	Tells            []string            `json:"tells"`      // before what the user wants to know
	Whether          []string            `json:"whether"`    // of an indirect question: "find out whether"
	Echoes           []string            `json:"echoes"`     // the verb of what an answer agrees to: "yes it would"
	Reports          []string            `json:"reports"`    // first words of what has been done: "I sent"
	Repairs          []string            `json:"repairs"`    // between a value that is taken back and its replacement
	Bounds           []string            `json:"bounds"`     // before a value that is only a limit
	RangeFrom        []string            `json:"range_from"` // before the beginning of a range
	RangeTo          []string            `json:"range_to"`   // between the ends of a range
	TypeNames        map[string][]string `json:"type_names"` // names of slots of a type
	TypeCues         map[string][]string `json:"type_cues"`
	TrailingLight    map[string][]string `json:"trailing_light"`

	Numbers    numberData              `json:"numbers"`
	Calendar   calendarData            `json:"calendar"`
	Clock      clockData               `json:"clock"`
	Spelling   spellingData            `json:"spelling"`
	Currencies map[string]currencyData `json:"currencies"`
	Render     renderData              `json:"render"`
	Grammar    GrammarData             `json:"grammar"`
	Background []string                `json:"background"`
}

// GrammarData is the "grammar" part of a language file: what a recognizer may expect, as
// right-hand sides of JSGF rules. {weekday} and others stand for the lists in the fields.
type GrammarData struct {
	Please       []string `json:"please"`
	Infinitive   string   `json:"infinitive"` // between "I'd like" and "fly from"
	Commands     []string `json:"commands"`
	Yes          []string `json:"yes"`
	No           []string `json:"no"`
	Change       []string `json:"change"` // {slot} {value}
	DayNumbers   string   `json:"day_numbers"`
	MonthNames   string   `json:"month_names"`
	WeekdayNames string   `json:"weekday_names"`
	DigitNames   string   `json:"digit_names"`
	SmallNumbers string   `json:"small_numbers"`
	Number       string   `json:"number"`
	Date         []string `json:"date"`
	PastDate     []string `json:"past_date"` // for slots whose dates are in the past
	Years        string   `json:"years"`
	Time         []string `json:"time"`
	Digits       []string `json:"digits"`
	Integer      []string `json:"integer"`
	Money        []string `json:"money"`
	Letters      string   `json:"letters"`
	Dash         string   `json:"dash"`
	Dot          string   `json:"dot"`
}

// roleData assigns the words before a value ("from Boston") to slots by the words in the
// slots' names.
type roleData struct {
	Names    []string `json:"names"`    // words in slots' names
	Mentions []string `json:"mentions"` // what people call such a slot
	Cues     []string `json:"cues"`
}

// Language is a compiled language. It is immutable and safe for concurrent use.
type Language struct {
	Tag      string
	Data     languageData
	Messages map[string][]string

	Fillers, Polite, Carriers, stringCarriers *Phrases
	Light, Prefixes, Articles, fillersAfter   *Phrases
	Pronouns                                  *Phrases
	Unfinished                                *Phrases
	YesNo                                     *Phrases // 0 yes, 1 no, 2 light
	approvals                                 *Phrases // 0 calls a statement right, 1 praise
	Opinions                                  *Phrases
	Commands                                  *Phrases // index into CommandWords
	CommandSets                               map[string]*Phrases
	HandoffWithin, CancelVerbs                *Phrases
	Strong, Weak, ChangeVerbs, Not, Assign    *Phrases
	Soft, Questions, NotWanted, tells, Others *Phrases
	Whether                                   *Phrases // words of an indirect question
	Again, Closing                            *Phrases
	Echoes, Reports                           *Phrases
	DoNot, Keep, Joins, Interrogatives        *Phrases
	Hedges, Denials, Wishes, Indefinite       *Phrases
	Exceptions, DeniedAfter, Clauses, Asked   *Phrases
	Polar, OutsideNames, Also, Choosing       *Phrases
	States, PastStates, Conditions            *Phrases
	TypedYesNo                                *Phrases       // 0 yes, 1 no
	synonyms                                  *Phrases       // class of a phrase
	classes                                   map[string]int // of a stem
	classNames                                []string
	Repairs, Bounds, RangeFrom, RangeTo, Or   *Phrases
	negations                                 map[string]bool
	TypeCues, trailingLight                   map[string]*Phrases

	Numbers  numberWords
	calendar calendarWords
	Clock    clockWords
	spelling spellingWords
	money    moneyWords
}

// CommandWords are the universal commands. If two share a phrase, the earlier wins. "skip",
// "retry", "thanks", "hello" and "wait" depend on the moment; they are in
// [Language.CommandSets] only.
var CommandWords = [...]string{"cancel", "restart", "repeat", "clarify", "options", "help", "handoff", "goodbye"}

// Languages returns the tags of the embedded languages, sorted.
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

// Tag returns the tag of the embedded language for a BCP 47 tag ("de" for "de-AT"), and
// reports whether there is one. The empty tag stands for English.
func Tag(tag string) (string, bool) {
	tag = strings.ToLower(strings.ReplaceAll(tag, "_", "-"))
	if tag == "" {
		return "en", true
	}
	if cut := strings.IndexByte(tag, '-'); cut >= 0 {
		tag = tag[:cut]
	}
	return tag, slices.Contains(Languages(), tag)
}

// Load compiles the embedded files of a language. It returns an error if there are none.
func Load(tag string) (*Language, error) {
	l := &Language{Tag: tag}
	if err := decodeEmbedded("lang/"+tag+".json", &l.Data); err != nil {
		return nil, err
	}
	if err := decodeEmbedded("lang/"+tag+".messages.json", &l.Messages); err != nil {
		return nil, err
	}
	d := &l.Data
	l.Fillers = NewPhrases(d.Fillers)
	l.Polite = NewPhrases(d.Polite)
	l.Carriers = NewPhrases(d.Carriers)
	l.stringCarriers = NewPhrases(d.StringCarriers)
	l.Light, l.Unfinished = NewPhrases(d.Light), NewPhrases(d.Unfinished)
	l.Prefixes, l.Articles = NewPhrases(d.Prefixes), NewPhrases(d.Articles)
	l.fillersAfter, l.Pronouns = NewPhrases(d.FillersAfter), NewPhrases(d.Pronouns)
	l.YesNo, l.approvals, l.Opinions = NewPhrases(d.Yes, d.No, d.YesNoLight), NewPhrases(d.StatedRight, d.Praise), NewPhrases(d.Opinions)
	var lists [][]string
	l.CommandSets = make(map[string]*Phrases)
	for _, name := range CommandWords {
		lists = append(lists, d.Commands[name])
	}
	l.Commands = NewPhrases(lists...)
	for name, list := range d.Commands {
		l.CommandSets[name] = NewPhrases(list)
	}
	l.HandoffWithin = NewPhrases(d.HandoffWithin)
	l.CancelVerbs = NewPhrases(d.CancelVerbs)
	l.Strong = NewPhrases(d.CorrectionStrong)
	l.Choosing, l.Conditions, l.States, l.PastStates = NewPhrases(d.Choosing), NewPhrases(d.Conditions), NewPhrases(d.States), NewPhrases(d.PastStates)
	l.Weak = NewPhrases(d.CorrectionWeak)
	l.ChangeVerbs = NewPhrases(d.ChangeVerbs)
	l.Not = NewPhrases(d.Not)
	l.DoNot = NewPhrases(d.DoNot)
	l.Joins = NewPhrases(d.Joins)
	l.Interrogatives = NewPhrases(d.Interrogatives)
	l.Keep = NewPhrases(d.Keep)
	l.Hedges = NewPhrases(d.Hedges)
	l.Indefinite = NewPhrases(d.Indefinite)
	l.Denials = NewPhrases(d.Denials)
	l.Wishes = NewPhrases(d.Wishes)
	l.Exceptions = NewPhrases(d.Exceptions)
	l.DeniedAfter = NewPhrases(d.DeniedAfter)
	l.Clauses = NewPhrases(d.Clauses)
	l.Asked = NewPhrases(d.Asked)
	l.Polar = NewPhrases(d.Polar)
	l.TypedYesNo = NewPhrases(d.TypedYes, d.TypedNo)
	l.Also = NewPhrases(d.Also)
	l.OutsideNames = NewPhrases(d.OutsideNames)
	l.Assign = NewPhrases(d.Assign)
	l.Soft = NewPhrases(d.SoftMarkers)
	l.Questions = NewPhrases(d.Questions)
	l.NotWanted = NewPhrases(d.NotWanted)
	l.negations = make(map[string]bool)
	for _, w := range d.Negations {
		l.negations[FoldText(w)] = true
	}
	l.Others, l.Again, l.Closing = NewPhrases(d.Others), NewPhrases(d.Again), NewPhrases(d.Closing)
	l.tells = NewPhrases(d.Tells)
	l.Whether, l.Echoes, l.Reports = NewPhrases(d.Whether), NewPhrases(d.Echoes), NewPhrases(d.Reports)
	l.Repairs = NewPhrases(d.Repairs)
	l.Bounds = NewPhrases(d.Bounds)
	l.RangeFrom, l.RangeTo = NewPhrases(d.RangeFrom), NewPhrases(d.RangeTo)
	l.Or = NewPhrases([]string{d.Render.Or})
	l.compileSynonyms()
	l.TypeCues = make(map[string]*Phrases)
	for name, list := range d.TypeCues {
		l.TypeCues[name] = NewPhrases(list)
	}
	l.trailingLight = make(map[string]*Phrases)
	for name, list := range d.TrailingLight {
		l.trailingLight[name] = NewPhrases(list)
	}
	l.Numbers = d.Numbers.compile()
	l.calendar = d.Calendar.compile()
	l.Clock = d.Clock.compile()
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

// Wrong reports whether the user wants to change something: "that's not right", but not
// "not right now".
func (l *Language) Wrong(toks []Token) bool {
	for i := range toks {
		if _, n := l.ChangeVerbs.At(toks, i); n > 0 {
			if _, m := l.YesNo.At(toks, i); m <= n {
				return true
			}
		}
	}
	return false
}

// Negates reports whether a folded word negates a sentence: "not", "won't".
func (l *Language) Negates(word string) bool { return l.negations[word] }

// Trim removes fillers and words of politeness from both ends.
func (l *Language) Trim(toks []Token) []Token {
	for {
		n := len(toks)
		toks = l.Fillers.TrimLeft(toks)
		toks = l.Polite.TrimLeft(toks)
		toks = l.Fillers.TrimRight(toks)
		toks = l.Polite.TrimRight(toks)
		if len(toks) == n {
			return toks
		}
	}
}

// foldMap folds the keys of a map of words.
func foldMap[V any](m map[string]V) map[string]V {
	out := make(map[string]V, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out[FoldText(k)] = m[k]
	}
	return out
}
