package dialog_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// said is one message to a service, in a conversation that has come to a question. What the
// slots may have afterwards was written down by somebody who read the message, not the code.
type said struct {
	name    string   // the symptom
	service string   // a file of testdata/services
	before  []string // what the user says before, which is understood
	text    string
	given   map[string]any // what the message gives
	may     map[string]any // what the message may be taken to give, beside it
	missed  []string       // what it gives and the agent asks for
	fails   bool           // EXPECTED FAILURE: a value is wrong; if it no longer is, the test fails
}

// values are messages of which each slot must keep what it has, except for what is given.
var values = []said{
	{name: "thanks become a town", service: "kennel", before: kennel(), text: "Thank you for the explanation."},
	{name: "approval becomes a town", service: "kennel", before: kennel(), text: "That sounds lovely."},
	{name: "everything becomes a town", service: "kennel", before: kennel(), text: "No. Everything is all right."},
	{name: "a question becomes a town", service: "kennel", before: kennel(), text: "What kennels do you know?"},
	{name: "a town after a verb", service: "kennel", before: kennel(), text: "Take Harrow please.", may: vals{"town": "Harrow"}},
	{name: "a last day becomes the first", service: "kennel", before: kennel(), text: "in Ludlow until the 14th of December", given: vals{"town": "Ludlow", "leaves": "2026-12-14"}},
	{name: "a wish beside the question is lost", service: "kennel", before: kennel(), text: "I am looking for something that has dry food", given: vals{"diet": "dry"}},
	{name: "what follows a question answers it", service: "kennel", before: kennel(), text: "No extra walks? All right then."},
	{name: "a day that is described becomes the one that was asked for", service: "kennel", before: kennel("Ludlow"), text: "I collect him on the 20th of December.", given: vals{"leaves": "2026-12-20"}},
	{name: "a last day answers the question for the first", service: "kennel", before: kennel("Ludlow"), text: "until the 9th of December please", given: vals{"leaves": "2026-12-09"}},
	{name: "a stretch of days is added to the day on which it begins", service: "kennel", before: kennel("Ludlow"), text: "for 5 days from the 3rd of December", given: vals{"arrives": "2026-12-03"}},
	{name: "a question for a price becomes a number", service: "kennel", before: kennel("Ludlow", "tomorrow"), text: "What would one dog cost?"},
	{name: "a question becomes a choice", service: "kennel", before: kennel("Ludlow", "tomorrow"), text: "Is it raw food that they get?"},
	{name: "a number with what it counts is lost", service: "kennel", before: kennel("Ludlow", "tomorrow"), text: "two dogs please", given: vals{"dogs": 2}},
	{name: "an announced question becomes a wish", service: "kennel", before: kennel("Ludlow", "tomorrow"), text: "One question first: are there extra walks?"},
	{name: "thanks become a yes", service: "kennel", before: kennel("Ludlow", "tomorrow", "2"), text: "Okay thanks. That is all I wanted to know."},
	{name: "a yes with a question", service: "kennel", before: kennel("Ludlow", "tomorrow", "2"), text: "Yes, but which kennel is it?", may: vals{"extra_walks": true}},
	{name: "the values of a request in the form of a question are lost", service: "kennel", text: "Can you find me a kennel in Ludlow for three dogs?", given: vals{"town": "Ludlow", "dogs": 3}},
	{name: "a number counts something else than was asked for", service: "printer", before: order(), text: "the brochure has 12 pages", given: vals{"pages": 12}},
	{name: "a question for a limit becomes a number", service: "printer", before: order(), text: "How many pages may one copy have?"},
	{name: "a question for the stock becomes a choice", service: "printer", before: order(), text: "Do you have glossy paper, and how much is it?"},
	{name: "two values of one answer are lost", service: "printer", before: order(), text: "200 copies on glossy paper", given: vals{"copies": 200, "paper": "glossy"}},
	{name: "your patience becomes a name", service: "printer", before: order("200", "12"), text: "Thanks for your patience."},
	{name: "praise becomes a name", service: "printer", before: order("200", "12"), text: "You have been great"},
	{name: "a name is lost", service: "printer", before: order("200", "12"), text: "it's for Ingrid Solberg", given: vals{"customer": "Ingrid Solberg"}},
	{name: "an answer changes another day", service: "printer", before: order("200", "12", "Ingrid Solberg", "on the 12th of December"), text: "Make it for the 9th.", may: vals{"proof_day": "2026-12-09"}},
	{name: "one copy becomes one o'clock", service: "printer", before: order("200", "12", "Ingrid Solberg", "on the 12th of December", "on the 9th of December", "at 4 pm"), text: "No, one more time. One copy."},
	{name: "thanks become the thing", service: "waste", before: waste(), text: "Thank you, that was quick."},
	{name: "approval becomes the thing", service: "waste", before: waste(), text: "Sounds good to me."},
	{name: "a day becomes the thing", service: "waste", before: waste(), text: "I need it gone on the 8th of December.", given: vals{"day": "2026-12-08"}, missed: []string{"day"}},
	{name: "a question after a sentence becomes the thing", service: "waste", before: waste(), text: "It depends. What does it cost?"},
	{name: "free words are lost", service: "waste", before: waste(), text: "a mattress and two chairs", given: vals{"thing": "a mattress and two chairs"}},
	{name: "a choice in an answer about a place is lost", service: "storage", before: storage(), text: "A large one please", given: vals{"size": "large"}},
	{name: "a choice becomes a place", service: "storage", before: storage(), text: "Small", given: vals{"size": "small"}},
	{name: "a choice among words becomes a place", service: "storage", before: storage(), text: "rather medium, I think", given: vals{"size": "medium"}},
	{name: "a place after its preposition is lost", service: "storage", before: storage(), text: "in Whitby", given: vals{"place": "Whitby"}},
	{name: "a place in small letters is lost", service: "storage", before: storage(), text: "whitby", given: vals{"place": "Whitby"}},
	{name: "a question takes what was suggested", service: "storage", before: storage("Whitby", "small"), text: "Okay, cool. What does it cost?"},
	{name: "praise with a question takes what was suggested", service: "storage", before: storage("Whitby", "small"), text: "Not too bad. Which gate is it?"},
	{name: "a yes to what was suggested is lost", service: "storage", before: storage("Whitby", "small"), text: "yes, that suits me", given: vals{"at": "09:30"}},
}

// others are more of them, written when those above passed.
var others = []said{
	{name: "no preference becomes a no", service: "kennel", before: walks(), text: "No preference."},
	{name: "it does not matter", service: "kennel", before: walks(), text: "It does not matter to me."},
	{name: "either is fine", service: "kennel", before: walks(), text: "Either is fine."},
	{name: "not sure yet becomes a no", service: "kennel", before: walks(), text: "Not sure yet."},
	{name: "a condition becomes a yes", service: "kennel", before: walks(), text: "Sure, if it is free."},
	{name: "a yes to something else", service: "kennel", before: walks(), text: "Okay thank you. That should do it for now."},
	{name: "a plain yes", service: "kennel", before: walks(), text: "Yes please.", given: vals{"extra_walks": true}},
	{name: "a no with the name", service: "kennel", before: walks(), text: "No thank you, no extra walks.", given: vals{"extra_walks": false}},
	{name: "what is not cared for is wished", service: "kennel", before: kennel(), text: "I don't care about extra walks, it is in Ludlow.", given: vals{"town": "Ludlow"}},
	{name: "without is with", service: "kennel", text: "find me a kennel without extra walks", given: vals{"extra_walks": false}},
	{name: "not important is wished", service: "kennel", text: "find me a kennel, extra walks are not important"},
	{name: "two questions are two dogs", service: "kennel", before: dogs(), text: "I have two questions before that."},
	{name: "number one is one dog", service: "kennel", before: dogs(), text: "My number one choice would be a quiet place."},
	{name: "24/7 is 24 dogs", service: "kennel", before: dogs(), text: "They are open 24/7, right?"},
	{name: "dry fur is dry food", service: "kennel", before: dogs(), text: "It takes long to dry them after rain."},
	{name: "another animal is a dog", service: "kennel", before: dogs(), text: "We also have three cats."},
	{name: "yesterday is the first day", service: "kennel", before: kennel("Ludlow"), text: "I was there yesterday and it was closed."},
	{name: "a day that is not good", service: "kennel", before: kennel("Ludlow"), text: "Today is not good, I will call back."},
	{name: "a birthday is the first day", service: "kennel", before: kennel("Ludlow"), text: "My birthday is on the 5th of May."},
	{name: "any day", service: "kennel", before: kennel("Ludlow"), text: "Any day is fine."},
	{name: "a small budget is a small unit", service: "storage", before: storage(), text: "I am on a small budget, in Whitby.", given: vals{"place": "Whitby"}},
	{name: "a large family is a large unit", service: "storage", before: storage(), text: "It is for a large family."},
	{name: "something of another measure", service: "storage", before: storage("Whitby"), text: "Something around five square meters."},
	{name: "a word like a choice", service: "storage", before: storage("Whitby"), text: "tall"},
	{name: "what is suggested depends", service: "storage", before: storage("Whitby", "small"), text: "That depends on the price."},
	{name: "another time than suggested", service: "storage", before: storage("Whitby", "small"), text: "No, half past ten.", given: vals{"at": "10:30"}},
	{name: "two hours are two o'clock", service: "storage", before: storage("Whitby", "small"), text: "I need two hours for the move."},
	{name: "a question whether it is dearer", service: "storage", before: storage(), text: "Is a heated one dearer?"},
	{name: "since Monday is the day", service: "waste", before: waste("an old sofa"), text: "It has stood here since Monday."},
	{name: "not before Friday is Friday", service: "waste", before: waste("an old sofa"), text: "Not before Friday."},
	{name: "floors are helpers", service: "waste", before: waste("an old sofa"), text: "There are 3 floors."},
	{name: "kids are helpers", service: "waste", before: waste("an old sofa"), text: "I am alone with two kids on Friday.", given: vals{"day": "2026-11-27"}},
	{name: "the last order is this one", service: "printer", before: order(), text: "The last order was 300 copies."},
	{name: "a price is a number of copies", service: "printer", before: order(), text: "I paid 40 euros last time."},
	{name: "the same as last time is a name", service: "printer", before: order("200", "12"), text: "Same as last time."},
	{name: "a sentence about somebody is a name", service: "printer", before: order("200", "12"), text: "The boss decides that."},
	{name: "not important is a name", service: "printer", before: order("200", "12"), text: "My name is not important."},
	{name: "one moment is one o'clock", service: "printer", before: order("200", "12", "Ingrid Solberg", "on the 12th of December", "on the 9th of December"), text: "One moment please."},
	{name: "two weeks with a limit", service: "printer", before: order("200", "12", "Ingrid Solberg"), text: "In two weeks, not earlier.", given: vals{"deadline": "2026-12-07"}},
	{name: "a yes to what was suggested after a question", service: "storage", before: storage("Whitby", "small"), text: "Yes.", given: vals{"at": "09:30"}},
}

// german are messages in German.
var german = []said{
	{name: "Dank wird ein Ort", service: "werkstatt", before: rad(), text: "Danke für die Auskunft."},
	{name: "Lob wird ein Ort", service: "werkstatt", before: rad(), text: "Das klingt gut."},
	{name: "ein Ort", service: "werkstatt", before: rad(), text: "In Kassel bitte.", given: vals{"ort": "Kassel"}},
	{name: "ein Ort in kleinen Buchstaben", service: "werkstatt", before: rad(), text: "kassel", given: vals{"ort": "Kassel"}},
	{name: "die Art wird ein Ort", service: "werkstatt", before: rad(), text: "Lastenrad", given: vals{"art": "Lastenrad"}},
	{name: "eine Frage nach dem Preis wird die Anzahl", service: "werkstatt", before: rad("Kassel", "morgen"), text: "Was kosten zwei Räder?"},
	{name: "die Anzahl", service: "werkstatt", before: rad("Kassel", "morgen"), text: "Zwei Räder.", given: vals{"anzahl": 2}},
	{name: "zwei Fragen sind zwei Räder", service: "werkstatt", before: rad("Kassel", "morgen"), text: "Ich habe noch zwei Fragen."},
	{name: "der Abholtag beantwortet die Frage nach dem Bringtag", service: "werkstatt", before: rad("Kassel"), text: "Ich muss es am 12. Dezember abholen.", given: vals{"holen": "2026-12-12"}},
	{name: "bis beantwortet die Frage nach dem ersten Tag", service: "werkstatt", before: rad("Kassel"), text: "Bis zum 9. Dezember.", given: vals{"holen": "2026-12-09"}},
	{name: "der Bringtag", service: "werkstatt", before: rad("Kassel"), text: "am 3. Dezember", given: vals{"bringen": "2026-12-03"}},
	{name: "der Geburtstag wird der Bringtag", service: "werkstatt", before: rad("Kassel"), text: "Mein Geburtstag ist am 5. Mai."},
	{name: "seit Montag ist Montag", service: "werkstatt", before: rad("Kassel"), text: "Es quietscht seit Montag."},
	{name: "eine Frage nach dem Leihrad wird ein Wunsch", service: "werkstatt", before: rad("Kassel", "morgen"), text: "Haben Sie auch ein Leihrad?"},
	{name: "eine Bedingung wird ein Ja", service: "werkstatt", before: rad("Kassel", "morgen", "2"), text: "Ja, wenn es nichts kostet."},
	{name: "egal wird ein Nein", service: "werkstatt", before: rad("Kassel", "morgen", "2"), text: "Das ist mir egal."},
	{name: "Dank wird ein Name", service: "werkstatt", before: rad("Kassel", "morgen", "2", "nein"), text: "Danke für Ihre Geduld."},
	{name: "ein Name", service: "werkstatt", before: rad("Kassel", "morgen", "2", "nein"), text: "Auf Helga Brandt.", given: vals{"kunde": "Helga Brandt"}},
	{name: "Dank wird der Schaden", service: "werkstatt", before: rad("Kassel", "morgen", "2", "nein", "Helga Brandt"), text: "Danke, das ging schnell."},
	{name: "eine Frage wird der Schaden", service: "werkstatt", before: rad("Kassel", "morgen", "2", "nein", "Helga Brandt"), text: "Kommt darauf an. Was kostet das?"},
	{name: "der Schaden", service: "werkstatt", before: rad("Kassel", "morgen", "2", "nein", "Helga Brandt"), text: "die Bremse und das Licht", given: vals{"schaden": "die Bremse und das Licht"}},
}

// later are messages to a service that the rules were not written on.
var later = []said{
	{name: "weather is a harbour", service: "harbour", before: berth(), text: "Wherever the wind takes us, haha."},
	{name: "the origin is the harbour", service: "harbour", before: berth(), text: "We set off from Dover this morning.", may: vals{"arrival_day": "2026-11-23"}, fails: true},
	{name: "a harbour after a verb", service: "harbour", before: berth(), text: "We sail to Ramsgate.", given: vals{"harbour": "Ramsgate"}},
	{name: "a harbour with a hedge", service: "harbour", before: berth(), text: "Ramsgate, I suppose.", given: vals{"harbour": "Ramsgate"}, missed: []string{"harbour"}},
	{name: "hold on is a harbour", service: "harbour", before: berth(), text: "Hold on, I have to look it up."},
	{name: "good evening is a harbour", service: "harbour", before: berth(), text: "Good evening."},
	{name: "a complaint is a harbour", service: "harbour", before: berth(), text: "That took ages"},
	{name: "you tell me is a harbour", service: "harbour", before: berth(), text: "you tell me"},
	{name: "lovely weather is a harbour", service: "harbour", before: berth(), text: "lovely weather today"},
	{name: "a question about the depth gives metres", service: "harbour", before: berth("Ramsgate"), text: "How deep is it, two metres?"},
	{name: "the length", service: "harbour", before: berth("Ramsgate"), text: "She is 11 metres long.", given: vals{"metres": 11}},
	{name: "the mast is the length", service: "harbour", before: berth("Ramsgate"), text: "The mast is 15 metres."},
	{name: "the crew is the length", service: "harbour", before: berth("Ramsgate"), text: "There are four of us on board."},
	{name: "the year of the boat is its length", service: "harbour", before: berth("Ramsgate"), text: "She was built in 1987."},
	{name: "a channel is the length", service: "harbour", before: berth("Ramsgate"), text: "I am on channel 16, by the way."},
	{name: "a departure is the arrival", service: "harbour", before: berth("Ramsgate", "11"), text: "We leave again on Sunday.", fails: true},
	{name: "a forecast is the arrival", service: "harbour", before: berth("Ramsgate", "11"), text: "The storm is on Thursday."},
	{name: "the arrival", service: "harbour", before: berth("Ramsgate", "11"), text: "We should be there on Thursday.", given: vals{"arrival_day": "2026-11-26"}},
	{name: "the arrival and the hour", service: "harbour", before: berth("Ramsgate", "11"), text: "On Thursday at around six in the evening.", given: vals{"arrival_day": "2026-11-26", "arrival_time": "18:00"}},
	{name: "not before Thursday is Thursday", service: "harbour", before: berth("Ramsgate", "11"), text: "Not before Thursday."},
	{name: "Thursday or Friday is Thursday", service: "harbour", before: berth("Ramsgate", "11"), text: "Thursday or Friday."},
	{name: "two days late is two nights", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "We are two days late already."},
	{name: "two nights", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "Two nights will do.", given: vals{"nights": 2}},
	{name: "the price of a night is a number of nights", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "What is it for one night?"},
	{name: "at least three nights is three", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "At least three nights."},
	{name: "last year's nights are these", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "Last year it was five nights."},
	{name: "until Sunday is a number of nights", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "Until Sunday."},
	{name: "an outer jacket is an outer berth", service: "harbour", before: berth("Ramsgate", "11", "on Thursday"), text: "I have a guest aboard who gets seasick."},
	{name: "opening hours are the arrival", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2"), text: "Do you close at six?"},
	{name: "three hours are three o'clock", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2"), text: "It takes us three hours from Dover."},
	{name: "the tide is the arrival", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2"), text: "High water is at four, I think."},
	{name: "the hour", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2"), text: "Half past five.", given: vals{"arrival_time": "17:30"}},
	{name: "a question about power is a yes", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm"), text: "Is shore power included?"},
	{name: "it depends is a no", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm"), text: "That depends on what it costs."},
	{name: "power is needed", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm"), text: "Yes, we need shore power.", given: vals{"shore_power": true}},
	{name: "a name in a sentence", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm", "no"), text: "She is called Blue Heron.", given: vals{"boat": "Blue Heron"}},
	{name: "the owner is the boat", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm", "no"), text: "Why do you want to know?"},
	{name: "nice one is a boat", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm", "no"), text: "That is a secret, haha."},
	{name: "a remark", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm", "no", "Blue Heron"), text: "we have a dog on board", given: vals{"remark": "we have a dog on board"}},
	{name: "a question is a remark", service: "harbour", before: berth("Ramsgate", "11", "on Thursday", "2", "at 5 pm", "no", "Blue Heron"), text: "Not really. Where do I pay?"},
}

// hired are messages to services whose action changes something. They were written in one go
// when the rules stood, and before the engine was run on them.
var hired = []said{
	{name: "seven days from Monday are a day", service: "van", before: van("Leeds"), text: "for 7 days from Monday", given: vals{"start": "2026-11-30", "days": 7}, missed: []string{"days"}},
	{name: "that is correct wants the insurance", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "That is correct."},
	{name: "that's right wants the insurance", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "That's right."},
	{name: "yes that is correct wants the insurance", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "Yes, that is correct."},
	{name: "sounds good wants the insurance", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "Sounds good."},
	{name: "the insurance is wanted", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "Yes please.", given: vals{"insurance": true}},
	{name: "sure wants the insurance", service: "van", before: van("Leeds", "on Friday", "3", "large"), text: "Sure, why not.", may: vals{"insurance": true}},
	{name: "the large family wants a large van", service: "van", text: "I need a van for the large family", may: vals{"depot": nil}},
	{name: "a large family is asked for the size", service: "van", before: van("Leeds", "on Friday", "3"), text: "we are a large family"},
	{name: "the rent beside a request is a number of days", service: "van", text: "a van in Leeds please, the rent is 800", given: vals{"depot": "Leeds"}, missed: []string{"depot"}},
	{name: "who drives is told with another name", service: "van", before: van("Leeds", "on Friday", "3", "large", "no"), text: "I booked it, but Carl Bishop drives", given: vals{"driver": "Carl Bishop"}, missed: []string{"driver"}},
	{name: "same as always drives", service: "van", before: van("Leeds", "on Friday", "3", "large", "no"), text: "same as always"},
	{name: "the request becomes a note", service: "van", before: van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop"), text: "I need the van for 4 days instead", may: vals{"days": 4}},
	{name: "a wish to leave becomes a note", service: "van", before: van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop"), text: "I don't want the van any more"},
	{name: "approval becomes a note", service: "van", before: van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop"), text: "That is great and all I need"},
	{name: "a question becomes a note", service: "van", before: van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop"), text: "At which time does the depot close?"},
	{name: "a note", service: "van", before: van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop"), text: "the street is very narrow", given: vals{"note": "the street is very narrow"}},
	{name: "drei Tage ab Montag sind ein Tag", service: "blumen", before: blumen("bunt", "2"), text: "für drei Tage ab Montag", given: vals{"tag": "2026-11-30"}, missed: []string{"tag"}},
	{name: "das stimmt will den Eilboten", service: "blumen", before: blumen("bunt", "2", "morgen", "Clara Weiss"), text: "Das stimmt."},
	{name: "ja genau will den Eilboten", service: "blumen", before: blumen("bunt", "2", "morgen", "Clara Weiss"), text: "Ja bitte.", given: vals{"eilig": true}},
	{name: "nicht Anna bekommt die Blumen", service: "blumen", before: blumen("bunt", "2", "morgen"), text: "nicht an Anna, an Clara Weiss", given: vals{"empfaenger": "Clara Weiss"}, missed: []string{"empfaenger"}},
	{name: "ein anderer Wunsch steht auf der Karte", service: "blumen", before: blumen("bunt", "2", "morgen", "Clara Weiss", "nein"), text: "Ich möchte doch lieber den roten Strauß", may: vals{"strauss": "rot"}},
	{name: "die Rechnung ist die Anzahl", service: "blumen", before: blumen("bunt"), text: "die Rechnung war 40 Euro"},
	{name: "die Karte", service: "blumen", before: blumen("bunt", "2", "morgen", "Clara Weiss", "nein"), text: "Alles Gute zum Geburtstag", given: vals{"karte": "Alles Gute zum Geburtstag"}},
}

type vals = map[string]any

func van(more ...string) []string { return append([]string{"I need a van"}, more...) }

func blumen(more ...string) []string {
	return append([]string{"ich möchte Blumen verschicken"}, more...)
}

func kennel(more ...string) []string { return append([]string{"find me a kennel"}, more...) }

func dogs() []string { return kennel("Ludlow", "tomorrow") }

func walks() []string { return kennel("Ludlow", "tomorrow", "2") }

func rad(more ...string) []string { return append([]string{"mein Rad ist kaputt"}, more...) }

func berth(more ...string) []string { return append([]string{"find me a berth"}, more...) }

func order(more ...string) []string { return append([]string{"I want something printed"}, more...) }

func waste(more ...string) []string { return append([]string{"I have bulky waste"}, more...) }

func storage(more ...string) []string { return append([]string{"I need a storage unit"}, more...) }

// TestValuesOfServices checks that a message gives a slot nothing that its reader does not find in
// it, and that what it gives is taken or, if missed says so, asked for.
func TestValuesOfServices(t *testing.T) {
	for _, s := range slices.Concat(values, others, german, later, hired) {
		t.Run(s.name, func(t *testing.T) {
			before, after, slots, _ := s.hold(t)
			failed := false
			for _, name := range slices.Sorted(maps.Keys(slots)) {
				want, given := s.given[name]
				if !given {
					want = before[name]
				}
				got := fmt.Sprint(after[name])
				v, may := s.may[name]
				switch {
				case got == fmt.Sprint(want), may && got == fmt.Sprint(v):
				case after[name] == nil && slices.Contains(s.missed, name):
				case s.fails:
					failed = true
				default:
					t.Errorf("after %q %s is %v, expected %v", s.text, name, after[name], want)
				}
			}
			if s.fails && !failed {
				t.Error("passes: take off its mark")
			}
		})
	}
}

// hold returns the values before and after the message, and the names of the slots.
func (s *said) hold(t *testing.T) (before, after map[string]any, slots map[string]bool, st dialog.State) {
	t.Helper()
	file := s.service + ".yaml"
	data, err := os.ReadFile(filepath.Join("testdata", "services", file))
	if err != nil {
		t.Fatal(err)
	}
	a, problems := dialog.Parse([]agent.File{{Name: file, Data: data}})
	if a == nil {
		t.Fatal(problems)
	}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	a.Start(&st, now)
	for i, text := range append(slices.Clone(s.before), s.text) {
		if i == len(s.before) {
			before = maps.Clone(st.Slots)
		}
		now = now.Add(5 * time.Second)
		had := maps.Clone(st.Slots)
		a.Handle(&st, now, dialog.Message{Text: text, Confidence: 1})
		if i > 0 && i < len(s.before) && maps.EqualFunc(had, st.Slots, func(x, y any) bool { return fmt.Sprint(x) == fmt.Sprint(y) }) {
			t.Fatalf("%s: %q was not understood", s.service, text)
		}
	}
	if st.ConversationState == dialog.Error {
		t.Errorf("%s: after %q something has gone wrong", s.service, s.text)
	}
	slots = make(map[string]bool)
	for _, info := range a.Slots() {
		slots[info.Name] = true
	}
	return before, st.Slots, slots, st
}

// TestHiredOnlyUponAYes checks that an action that changes something runs upon a plain yes and
// upon nothing else.
func TestHiredOnlyUponAYes(t *testing.T) {
	full := van("Leeds", "on Friday", "3", "large", "no", "Carl Bishop", "the street is very narrow")
	voll := blumen("bunt", "2", "morgen", "Clara Weiss", "nein", "Alles Gute")
	for _, c := range []struct {
		service string
		before  []string
		text    string
		runs    bool
	}{
		{"van", full, "yes", true},
		{"van", full, "that is correct", true},
		{"van", full, "yes, but only with a driver", false},
		{"van", full, "yes, no, leave it", false},
		{"van", full, "yes ... no, leave it", false},
		{"van", full, "no, leave it", false},
		{"van", full, "yes once you have asked the depot", false},
		{"van", full, "yes for four days", false},
		{"van", full, "is that all right with you?", false},
		{"van", full, "ok, is it new?", false},
		{"blumen", voll, "ja", true},
		{"blumen", voll, "ja genau", true},
		{"blumen", voll, "ja, aber nur wenn es heute noch klappt", false},
		{"blumen", voll, "nein, lass es", false},
		{"blumen", voll, "ja, nein, doch nicht", false},
		{"blumen", voll, "ja, sobald ich das Geld habe", false},
		{"blumen", voll, "ja für drei", false},
	} {
		s := said{service: c.service, before: c.before, text: c.text}
		_, _, _, st := s.hold(t)
		ran := slices.ContainsFunc(st.Trace, func(e dialog.TraceEvent) bool { return e.Event == "action_completed" })
		if ran != c.runs {
			t.Errorf("after %q the action has run: %t, expected %t", c.text, ran, c.runs)
		}
	}
}
