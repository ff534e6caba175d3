package dialog

import (
	"fmt"
	"testing"
	"time"
)

// tuesday is the day of the seed's examples.
var tuesday = time.Date(2025, 12, 2, 10, 0, 0, 0, time.UTC)

// spoken is a spoken form and the value it stands for; nil: none.
type spoken struct {
	typ  string // slot of normalise*.yaml
	text string
	want any
}

const normaliseSlots = `
slots:
  city: {type: city, prompt: "Which city?", values: [New York, Boston, {value: Los Angeles, synonyms: [LA, L.A.]}, San Francisco, Köln, München, Denver, Austin]}
  size: {type: enum, values: [small, medium, {value: extra large, synonyms: [XL]}]}
  place: {type: city}
  date: {type: date}
  birth: {type: date, past: true}
  time: {type: time}
  morning: {type: time, min: "06:00", max: "12:00"}
  int: {type: integer}
  num: {type: number}
  yes: {type: boolean}
  digits: {type: digits}
  code: {type: code}
  email: {type: email}
  phone: {type: phone}
  money: {type: money}
  euro: {type: money, currency: EUR, prompt: "How much do you want to send?"}
  name: {type: name}
  text: {type: string}
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: collect, slot: city}
`

func normaliser(t testing.TB, language string) func(typ, text string) any {
	t.Helper()
	a, problems := Parse([]File{{"slots.yaml", []byte("settings: {language: " + language + "}" + normaliseSlots)}})
	if a == nil {
		t.Fatal(problems)
	}
	return func(typ, text string) any {
		s := a.slotIndex[typ]
		if s == nil {
			t.Fatalf("no slot %q", typ)
		}
		v, sure := reader{l: a.lang, raw: text, toks: tokenize(text, nil), now: tuesday}.answer(s)
		if sure != certain {
			return nil
		}
		return v
	}
}

func checkSpoken(t *testing.T, language string, table []spoken) {
	read := normaliser(t, language)
	for _, c := range table {
		if got := read(c.typ, c.text); fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", norm(c.want), norm(c.want)) {
			t.Errorf("%s %q: got %v (%T), want %v (%T)", c.typ, c.text, got, got, norm(c.want), norm(c.want))
		}
	}
}

func norm(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	default:
		return v
	}
}

func TestSpokenEnglish(t *testing.T) {
	checkSpoken(t, "en", []spoken{
		{"int", "twenty three", 23},
		{"int", "twenty-three", 23},
		{"int", "23", 23},
		{"int", "zero", 0},
		{"int", "a hundred", 100},
		{"int", "one hundred and five", 105},
		{"int", "nineteen", 19},
		{"int", "two thousand twenty five", 2025},
		{"int", "twelve hundred", 1200},
		{"int", "one million two hundred thousand", 1200000},
		{"int", "three dozen", 36},
		{"int", "a dozen", 12},
		{"int", "1,250", 1250},
		{"int", "minus five", -5},
		{"int", "two hundred and fifty six thousand", 256000},
		{"int", "there are four of us", 4},
		{"int", "we need two tickets please", 2},
		{"int", "just one", 1},
		{"int", "five people", 5},
		{"int", "ninety nine", 99},
		{"int", "five hundred thousand and one", 500001},
		{"int", "blue", nil},
		{"int", "one two", nil},
		{"int", "half", nil},
		{"int", "twenty thirty", nil},
		{"num", "three point one four", 3.14},
		{"num", "two and a half", 2.5},
		{"num", "half a million", 500000},
		{"num", "1.5", 1.5},
		{"num", "two point five million", 2500000},
		{"num", "3k", 3000},
		{"num", "zero point zero five", 0.05},
		{"num", "seven and three quarters", 7.75},

		{"date", "today", "2025-12-02"},
		{"date", "tomorrow", "2025-12-03"},
		{"date", "tomorrow morning", "2025-12-03"},
		{"date", "the day after tomorrow", "2025-12-04"},
		{"date", "yesterday", "2025-12-01"},
		{"date", "next friday", "2025-12-12"},
		{"date", "Next Friday", "2025-12-12"},
		{"date", "friday", "2025-12-05"},
		{"date", "on friday", "2025-12-05"},
		{"date", "this friday", "2025-12-05"},
		{"date", "this coming friday", "2025-12-05"},
		{"date", "tuesday", "2025-12-09"},
		{"date", "this tuesday", "2025-12-02"},
		{"date", "next tuesday", "2025-12-09"},
		{"date", "next monday", "2025-12-08"},
		{"date", "next sunday", "2025-12-14"},
		{"date", "last friday", "2025-11-28"},
		{"date", "friday next week", "2025-12-12"},
		{"date", "next week on friday", "2025-12-12"},
		{"date", "friday after next", "2025-12-19"},
		{"date", "a week from friday", "2025-12-12"},
		{"date", "friday week", "2025-12-12"},
		{"date", "two weeks from friday", "2025-12-19"},
		{"date", "the third of may", "2026-05-03"},
		{"date", "may third", "2026-05-03"},
		{"date", "may the third", "2026-05-03"},
		{"date", "on may 3rd", "2026-05-03"},
		{"date", "May 3", "2026-05-03"},
		{"date", "3rd of May 2027", "2027-05-03"},
		{"date", "december twelfth", "2025-12-12"},
		{"date", "december the twelfth twenty twenty six", "2026-12-12"},
		{"date", "december twelve", "2025-12-12"},
		{"date", "twelfth of december", "2025-12-12"},
		{"date", "january twenty first", "2026-01-21"},
		{"date", "the twenty first of january", "2026-01-21"},
		{"date", "the first", "2026-01-01"},
		{"date", "the fifteenth", "2025-12-15"},
		{"date", "on the 31st", "2025-12-31"},
		{"date", "the third of next month", "2026-01-03"},
		{"date", "friday the twelfth", "2025-12-12"},
		{"date", "friday december twelfth", "2025-12-12"},
		{"date", "friday the thirteenth of december", nil},
		{"date", "february thirtieth", nil},
		{"date", "february twenty ninth", "2028-02-29"},
		{"date", "in three days", "2025-12-05"},
		{"date", "in two weeks", "2025-12-16"},
		{"date", "in a week", "2025-12-09"},
		{"date", "three days from now", "2025-12-05"},
		{"date", "a week from today", "2025-12-09"},
		{"date", "two weeks from tomorrow", "2025-12-17"},
		{"date", "three days ago", "2025-11-29"},
		{"date", "in a month", "2026-01-02"},
		{"date", "christmas", "2025-12-25"},
		{"date", "christmas eve", "2025-12-24"},
		{"date", "new year's eve", "2025-12-31"},
		{"date", "on the fourth of july", "2026-07-04"},
		{"date", "this weekend", "2025-12-06"},
		{"date", "next weekend", "2025-12-13"},
		{"date", "the end of the month", "2025-12-31"},
		{"date", "end of next month", "2026-01-31"},
		{"date", "2025-12-12", "2025-12-12"},
		{"date", "12/25", "2025-12-25"},
		{"date", "5/3/2026", "2026-05-03"},
		{"date", "12/25/26", "2026-12-25"},
		{"date", "I'd like to leave on the third of may please", "2026-05-03"},
		{"date", "how about next friday", "2025-12-12"},
		{"date", "friday would be great", "2025-12-05"},
		{"date", "let's say december twentieth", "2025-12-20"},
		{"date", "tomorow", "2025-12-03"},
		{"date", "wensday", nil},
		{"date", "next wednesdey", "2025-12-10"},
		{"date", "blue", nil},
		{"date", "thirteen", nil},
		{"birth", "may third nineteen eighty four", "1984-05-03"},
		{"birth", "the second of june two thousand six", "2006-06-02"},
		{"birth", "may third", "2025-05-03"},
		{"birth", "twelve/24/1999", nil},
		{"birth", "12/24/1999", "1999-12-24"},
		{"birth", "march first nineteen oh five", "1905-03-01"},

		{"time", "half past three", "15:30"},
		{"time", "three thirty", "15:30"},
		{"time", "3:30", "15:30"},
		{"time", "03:30", "03:30"},
		{"time", "15:30", "15:30"},
		{"time", "3pm", "15:00"},
		{"time", "3:30pm", "15:30"},
		{"time", "3 p.m.", "15:00"},
		{"time", "three p m", "15:00"},
		{"time", "nine in the morning", "09:00"},
		{"time", "nine in the evening", "21:00"},
		{"time", "nine a.m.", "09:00"},
		{"time", "eight", "08:00"},
		{"time", "at eight o'clock", "08:00"},
		{"time", "five o'clock", "17:00"},
		{"time", "quarter past four", "16:15"},
		{"time", "a quarter to nine", "08:45"},
		{"time", "ten past five", "17:10"},
		{"time", "twenty five to six", "17:35"},
		{"time", "twenty minutes past two", "14:20"},
		{"time", "noon", "12:00"},
		{"time", "midnight", "00:00"},
		{"time", "seven oh five", "07:05"},
		{"time", "twelve thirty", "12:30"},
		{"time", "twelve thirty a.m.", "00:30"},
		{"time", "fifteen thirty", "15:30"},
		{"time", "afternoon at three", "15:00"},
		{"time", "eleven at night", "23:00"},
		{"time", "two at night", "02:00"},
		{"time", "in two hours", "12:00"},
		{"time", "in half an hour", "10:30"},
		{"time", "around ten thirty", "10:30"},
		{"time", "twenty five", nil},
		{"time", "half past", nil},
		{"morning", "eight", "08:00"},
		{"morning", "six thirty", "06:30"},

		{"digits", "double oh seven", "007"},
		{"digits", "one two three four", "1234"},
		{"digits", "twenty three", "23"},
		{"digits", "forty two fifteen", "4215"},
		{"digits", "triple five one two", "55512"},
		{"digits", "zero zero four", "004"},
		{"digits", "oh four oh", "040"},
		{"digits", "1234 5678", "12345678"},
		{"digits", "my number is four one five", "415"},
		{"digits", "eight hundred five five five", "800555"},
		{"digits", "nineteen eighty four", "1984"},
		{"digits", "one two dash three four", "1234"},
		{"digits", "abc", nil},
		{"phone", "four one five five five five oh one two three", "4155550123"},
		{"phone", "+1 (415) 555-0123", "+14155550123"},
		{"phone", "plus four nine one five one two three four five six", "+4915123456"},
		{"phone", "eight hundred five five five one two one two", "8005551212"},
		{"phone", "you can reach me at 415 555 0123", "4155550123"},
		{"phone", "one two", nil},

		{"code", "BK-98765", "BK-98765"},
		{"code", "b k nine eight seven six five", "BK98765"},
		{"code", "b as in boston k as in kilo dash nine eight", "BK-98"},
		{"code", "bravo kilo double seven", "BK77"},
		{"code", "a one b two", "A1B2"},
		{"code", "x-ray yankee zulu one oh one", "XYZ101"},
		{"code", "it's q as in queen seven", "Q7"},
		{"code", "double b seven", "BB7"},
		{"code", "BK 1234", "BK1234"},
		{"code", "bk 1234", "BK1234"},
		{"code", "it's bk 1234 please", "BK1234"},
		{"code", "HOCK 12 34", "HOCK1234"},
		{"code", "DE 89 3704 0044 0532 0130 00", "DE89370400440532013000"},
		{"code", "GB 29 NWBK 6016 1331 9268 19", "GB29NWBK60161331926819"},
		{"code", "room 1234", nil},
		{"code", "EUR 500", nil},
		{"code", "JUNE 12", nil},
		{"code", "no 1234", nil},
		{"email", "j dot doe at example dot com", "j.doe@example.com"},
		{"email", "john dot smith at gmail dot com", "john.smith@gmail.com"},
		{"email", "jane underscore doe forty two at mail dot example dot org", "jane_doe42@mail.example.org"},
		{"email", "Jane.Doe@Example.com", "jane.doe@example.com"},
		{"email", "my email is j dot doe at example dot com", "j.doe@example.com"},
		{"email", "it's j o h n at example dot com", "john@example.com"},
		{"email", "b as in boston o b at example dot co dot uk", "bob@example.co.uk"},
		{"email", "john at example", nil},
		{"email", "example dot com", nil},
		{"money", "fifty dollars", 50},
		{"money", "$299", 299},
		{"money", "$1,250.50", 1250.5},
		{"money", "twelve dollars and fifty cents", 12.5},
		{"money", "twelve dollars fifty", 12.5},
		{"money", "fifty cents", 0.5},
		{"money", "five hundred", 500},
		{"money", "twenty bucks", 20},
		{"money", "two and a half thousand dollars", 2500},
		{"money", "a thousand", 1000},
		{"money", "five hundred euros", nil},
		{"euro", "five hundred euros", 500},
		{"euro", "€20", 20},
		{"euro", "I'd like to send 20€ please", 20},

		{"yes", "yes", true},
		{"yes", "yeah sure", true},
		{"yes", "that's right", true},
		{"yes", "yes please go ahead", true},
		{"yes", "uh huh", true},
		{"yes", "why not", true},
		{"yes", "no problem", true},
		{"yes", "no", false},
		{"yes", "nope", false},
		{"yes", "no thank you", false},
		{"yes", "that's not right", false},
		{"yes", "not really", false},
		{"yes", "I don't think so", false},
		{"yes", "absolutely not", false},
		{"yes", "maybe", nil},
		{"yes", "I am not sure", nil},
		{"yes", "yes no", nil},

		{"city", "Boston", "Boston"},
		{"city", "boston please", "Boston"},
		{"city", "from Boston", "Boston"},
		{"city", "la", "Los Angeles"},
		{"city", "L.A.", "Los Angeles"},
		{"city", "I would like san francisco", "San Francisco"},
		{"city", "in new york city please", "New York"},
		{"city", "koln", "Köln"},
		{"city", "Boston or Denver", nil},
		{"city", "Paris", nil},
		{"size", "medium please", "medium"},
		{"size", "the second one", "medium"},
		{"size", "XL", "extra large"},
		{"size", "extra large", "extra large"},
		{"place", "springfield", "Springfield"},
		{"place", "in Little Rock", "Little Rock"},
		{"place", "42", nil},
		{"name", "my name is john smith", "John Smith"},
		{"name", "It's Jane Doe.", "Jane Doe"},
		{"name", "McAllister", "McAllister"},
		{"text", "it's for the rent", "the rent"},
		{"text", "window seat, please.", "window seat"},
	})
}

func TestSpokenGerman(t *testing.T) {
	checkSpoken(t, "de", []spoken{
		{"int", "dreiundzwanzig", 23},
		{"int", "drei und zwanzig", 23},
		{"int", "einundzwanzig", 21},
		{"int", "eins", 1},
		{"int", "zwo", 2},
		{"int", "fünfzehn", 15},
		{"int", "fuenfzehn", 15},
		{"int", "hundert", 100},
		{"int", "hundertfünf", 105},
		{"int", "zweihundertdreiundzwanzig", 223},
		{"int", "tausend", 1000},
		{"int", "zweitausendfünfundzwanzig", 2025},
		{"int", "zwölftausenddreihundert", 12300},
		{"int", "eine million", 1000000},
		{"int", "minus vier", -4},
		{"int", "für zwei Personen", 2},
		{"int", "1.250", 1250},
		{"int", "ein Dutzend", 12},
		{"int", "grün", nil},
		{"num", "drei Komma eins vier", 3.14},
		{"num", "zweieinhalb", 2.5},
		{"num", "anderthalb", 1.5},
		{"num", "3,5", 3.5},
		{"date", "heute", "2025-12-02"},
		{"date", "morgen", "2025-12-03"},
		{"date", "übermorgen", "2025-12-04"},
		{"date", "nächsten Freitag", "2025-12-12"},
		{"date", "am Freitag", "2025-12-05"},
		{"date", "kommenden Freitag", "2025-12-05"},
		{"date", "übernächsten Freitag", "2025-12-19"},
		{"date", "Freitag nächste Woche", "2025-12-12"},
		{"date", "letzten Freitag", "2025-11-28"},
		{"date", "der dritte Mai", "2026-05-03"},
		{"date", "am dritten Mai", "2026-05-03"},
		{"date", "am dritten fünften", "2026-05-03"},
		{"date", "am 3. Mai", "2026-05-03"},
		{"date", "3.5.2026", "2026-05-03"},
		{"date", "24.12.", "2025-12-24"},
		{"date", "am einundzwanzigsten Januar", "2026-01-21"},
		{"date", "am zwölften Dezember zweitausendsechsundzwanzig", "2026-12-12"},
		{"date", "am fünfzehnten", "2025-12-15"},
		{"date", "in drei Tagen", "2025-12-05"},
		{"date", "in einer Woche", "2025-12-09"},
		{"date", "vor zwei Tagen", "2025-11-30"},
		{"date", "heiligabend", "2025-12-24"},
		{"date", "Freitag der zwölfte", "2025-12-12"},
		{"birth", "dritter Mai neunzehnhundertvierundachtzig", "1984-05-03"},
		{"time", "halb vier", "15:30"},
		{"time", "viertel nach drei", "15:15"},
		{"time", "viertel vor neun", "08:45"},
		{"time", "dreiviertel vier", "15:45"},
		{"time", "fünf vor halb vier", "15:25"},
		{"time", "zehn nach fünf", "17:10"},
		{"time", "um fünfzehn Uhr dreißig", "15:30"},
		{"time", "15 Uhr", "15:00"},
		{"time", "neun Uhr", "09:00"},
		{"time", "acht Uhr abends", "20:00"},
		{"time", "zwölf Uhr", "12:00"},
		{"time", "mitternacht", "00:00"},
		{"time", "mittags", "12:00"},
		{"time", "15.30", "15:30"},
		{"time", "in zwei Stunden", "12:00"},
		{"digits", "doppel null sieben", "007"},
		{"digits", "eins zwei drei", "123"},
		{"digits", "zwo drei", "23"},
		{"digits", "dreiundzwanzig", "23"},
		{"phone", "null eins fünf eins eins zwei drei vier", "01511234"},
		{"phone", "+49 151 1234567", "+491511234567"},
		{"code", "b wie berta k sieben", "BK7"},
		{"code", "Anton Berta drei", "AB3"},
		{"email", "j punkt meier at example punkt com", "j.meier@example.com"},
		{"email", "anna unterstrich klein ät web punkt de", "anna_klein@web.de"},
		{"money", "fünfzig Euro", 50},
		{"money", "zwölf Euro fünfzig", 12.5},
		{"money", "1.250,50 €", 1250.5},
		{"money", "fünfzig Dollar", nil},
		{"yes", "ja", true},
		{"yes", "ja genau", true},
		{"yes", "stimmt", true},
		{"yes", "auf jeden Fall", true},
		{"yes", "nein", false},
		{"yes", "nein danke", false},
		{"yes", "das stimmt nicht", false},
		{"yes", "vielleicht", nil},
		{"city", "München", "München"},
		{"city", "Muenchen", nil},
		{"city", "köln bitte", "Köln"},
		{"name", "mein Name ist Anna Schmidt", "Anna Schmidt"},
	})
}
