// Package clauses divides texts for synthesizers of English: at sentence ends, at clause
// boundaries, and at a maximum number of words. It transliterates typographic characters, and
// omits those that cannot be spoken.
package clauses
