#ifndef HOCKET_POCKETSPHINX_SHIM_H
#define HOCKET_POCKETSPHINX_SHIM_H

#include <stdint.h>
#include <stddef.h>
#include <pocketsphinx.h>

// The shim is the only place that talks to libpocketsphinx. It hides variadic
// functions, opaque iterators and the process-wide log of the library, and
// keeps each crossing from Go to C to one call per piece of work.

// HK_CEP is the largest length of a cepstral vector that the shim handles.
#define HK_CEP 64

// hk_cmn is the state of cepstral mean normalisation: the mean that is
// subtracted, and sum and number of the frames seen.
typedef struct {
	float mean[HK_CEP];
	float sum[HK_CEP];
	int32_t frames;
	int32_t len;
} hk_cmn;

// hk_seg is one word, filler or silence of a path. word belongs to the decoder
// and lives as long as the search that made it.
typedef struct {
	const char *word;
	int32_t start, end; // frames of the search, both inclusive
	int32_t ascr;       // acoustic score, in units of 1024 ln(1.0001) nats
	int32_t lscr;       // language score, same units
	int32_t lback;      // n-gram order that gave lscr
	double post;        // posterior in the lattice, 1 when there is none
} hk_seg;

// hk_arc is one transition of a word graph. word is an index into the word
// list, or -1 for an empty transition.
typedef struct {
	int32_t from, to, word;
	double prob;
} hk_arc;

ps_decoder_t *hk_open(const char *hmm, const char *lm, const char *dict,
                      char *reason, size_t reason_len);
int hk_begin(ps_decoder_t *ps, const float *mean, int32_t len);
int hk_write(ps_decoder_t *ps, const int16_t *pcm, size_t n);
int hk_frames(ps_decoder_t *ps);
int hk_end(ps_decoder_t *ps);
int hk_path(ps_decoder_t *ps, hk_seg *out, int max);
double hk_prob(ps_decoder_t *ps);
int hk_end_score(ps_decoder_t *ps, const char *name, int32_t state, int32_t *score);
int hk_cmn_get(ps_decoder_t *ps, hk_cmn *out);
char *hk_pronunciation(ps_decoder_t *ps, const char *word);
int hk_add_grammar(ps_decoder_t *ps, const char *name, double beam,
                   int32_t states, int32_t start, int32_t final,
                   const hk_arc *arcs, int32_t n_arcs,
                   const char **words, int32_t n_words);

#endif
