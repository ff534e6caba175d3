// Package ending estimates from the words of a turn so far whether it is complete: free speech
// in English, of which no dialogue knows what to expect. "I'd like to go to" is not, "I'd like
// to go to Boston" may be.
//
// The model is a logistic regression over the last words, the first ones and their number.
// Words of open classes count by their endings, too, so that it says something about words
// that it has not seen. The command train makes its weights from sentences of a hand-written
// grammar and their beginnings; go generate runs it.
package ending

//go:generate go run ./train
