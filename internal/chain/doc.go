// Package chain combines recognizers, and synthesizers, to one that falls back: it uses the
// first that works. An engine that fails is left alone for a while, longer each time, and then
// tried again. What was being said is not lost: the next engine hears the utterance from its
// beginning, or says the rest of the text.
package chain
