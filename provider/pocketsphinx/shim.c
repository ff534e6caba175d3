//go:build pocketsphinx && cgo

#include "shim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sphinxbase/cmn.h>
#include <sphinxbase/err.h>
#include <sphinxbase/feat.h>
#include <sphinxbase/fsg_model.h>

static pthread_once_t quiet_once = PTHREAD_ONCE_INIT;

// The library reports why it failed in its log alone. Each thread keeps its
// last error so that hk_open can return it.
static __thread char last_error[512];

static void keep_error(void *data, err_lvl_t level, const char *format, ...)
{
	char line[512];
	va_list args;

	(void)data;
	if (level != ERR_ERROR && level != ERR_FATAL)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	snprintf(last_error, sizeof last_error, "%s", line);
}

static void quiet(void)
{
	err_set_logfp(NULL);
	err_set_callback(keep_error, NULL);
}

ps_decoder_t *hk_open(const char *hmm, const char *lm, const char *dict,
                      char *reason, size_t reason_len)
{
	cmd_ln_t *config;
	ps_decoder_t *ps;

	pthread_once(&quiet_once, quiet);
	last_error[0] = '\0';
	config = cmd_ln_init(NULL, ps_args(), TRUE,
	                     "-hmm", hmm, "-lm", lm, "-dict", dict,
	                     // Sound unlike the model keeps ten times as many
	                     // hypotheses alive as speech does; the bound makes
	                     // noise as cheap as speech and costs speech nothing.
	                     "-maxhmmpf", "2000",
	                     NULL);
	if (config == NULL) {
		snprintf(reason, reason_len, "%s", last_error);
		return NULL;
	}
	ps = ps_init(config);
	cmd_ln_free_r(config);
	if (ps == NULL)
		snprintf(reason, reason_len, "%s", last_error);
	return ps;
}

// hk_begin opens an utterance. The mean to subtract is the caller's, the frames
// seen are counted from zero and the noise estimate starts anew: nothing of the
// decoder's past enters.
int hk_begin(ps_decoder_t *ps, const float *mean, int32_t len)
{
	cmn_t *c = ps_get_feat(ps)->cmn_struct;
	int i;

	if (c != NULL) {
		if (len != c->veclen)
			return -1;
		for (i = 0; i < len; i++) {
			c->cmn_mean[i] = mean[i];
			c->sum[i] = 0;
		}
		c->nframe = 0;
	}
	ps_start_stream(ps);
	return ps_start_utt(ps);
}

int hk_write(ps_decoder_t *ps, const int16_t *pcm, size_t n)
{
	return ps_process_raw(ps, pcm, n, FALSE, FALSE);
}

int hk_frames(ps_decoder_t *ps)
{
	return ps_get_n_frames(ps) - 1;
}

int hk_end(ps_decoder_t *ps)
{
	return ps_end_utt(ps);
}

// hk_path copies the segments of the best path so far, fillers included, and
// returns their number. After hk_end of a language model search it is the best
// path of the lattice, with posteriors.
int hk_path(ps_decoder_t *ps, hk_seg *out, int max)
{
	logmath_t *lmath = ps_get_logmath(ps);
	ps_seg_t *seg;
	int n = 0;

	for (seg = ps_seg_iter(ps); seg != NULL; seg = ps_seg_next(seg)) {
		int start, end;
		int32 ascr = 0, lscr = 0, lback = 0, post;

		if (n == max) {
			ps_seg_free(seg);
			break;
		}
		ps_seg_frames(seg, &start, &end);
		post = ps_seg_prob(seg, &ascr, &lscr, &lback);
		out[n].word = ps_seg_word(seg);
		out[n].start = start;
		out[n].end = end;
		out[n].ascr = ascr;
		out[n].lscr = lscr;
		out[n].lback = lback;
		out[n].post = logmath_exp(lmath, post);
		n++;
	}
	return n;
}

double hk_prob(ps_decoder_t *ps)
{
	return logmath_exp(ps_get_logmath(ps), ps_get_prob(ps));
}

// hk_end_score gives the score of the best path of the grammar called name that
// ends in state, after hk_end. It returns -1 when no path does: there was none,
// or the search gave it up.
int hk_end_score(ps_decoder_t *ps, const char *name, int32_t state, int32_t *score)
{
	fsg_model_t *fsg = ps_get_fsg(ps, name);
	int32 best = 0;

	if (fsg == NULL)
		return -1;
	// The final state is looked at when a result is asked for, not before.
	fsg->final_state = state;
	if (ps_get_hyp(ps, &best) == NULL && best == 0)
		return -1;
	*score = best;
	return 0;
}

int hk_cmn_get(ps_decoder_t *ps, hk_cmn *out)
{
	const cmn_t *c = ps_get_feat(ps)->cmn_struct;
	int i;

	memset(out, 0, sizeof *out);
	if (c == NULL)
		return 0;
	if (c->veclen > HK_CEP)
		return -1;
	out->len = c->veclen;
	out->frames = c->nframe;
	for (i = 0; i < c->veclen; i++) {
		out->mean[i] = c->cmn_mean[i];
		out->sum[i] = c->sum[i];
	}
	return 0;
}

char *hk_pronunciation(ps_decoder_t *ps, const char *word)
{
	return ps_lookup_word(ps, word);
}

// hk_add_grammar adds a word graph as the search called name. The graph is
// built from arrays, not from JSGF text, because the library's JSGF parser
// keeps its memory for ever and its errors to itself. beam, if not 0, replaces
// the configured beams: a search of a few paths can afford to keep them all.
int hk_add_grammar(ps_decoder_t *ps, const char *name, double beam,
                   int32_t states, int32_t start, int32_t final,
                   const hk_arc *arcs, int32_t n_arcs,
                   const char **words, int32_t n_words)
{
	logmath_t *lmath = ps_get_logmath(ps);
	static const char *const beams[3] = {"-beam", "-pbeam", "-wbeam"};
	cmd_ln_t *config = ps_get_config(ps);
	double lw = cmd_ln_float32_r(config, "-lw"), kept[3];
	fsg_model_t *fsg = fsg_model_init(name, lmath, (float32)lw, states);
	glist_t nulls;
	int32_t i;
	int rv;

	if (fsg == NULL)
		return -1;
	fsg->start_state = start;
	fsg->final_state = final;
	// Word ids follow the order of addition, hence equal the index.
	for (i = 0; i < n_words; i++)
		fsg_model_word_add(fsg, words[i]);
	for (i = 0; i < n_arcs; i++) {
		int32 logp = (int32)(logmath_log(lmath, arcs[i].prob) * lw);

		if (arcs[i].word < 0)
			fsg_model_null_trans_add(fsg, arcs[i].from, arcs[i].to, logp);
		else
			fsg_model_trans_add(fsg, arcs[i].from, arcs[i].to, logp, arcs[i].word);
	}
	nulls = fsg_model_null_trans_closure(fsg, NULL);
	glist_free(nulls);
	for (i = 0; i < 3; i++) {
		kept[i] = cmd_ln_float64_r(config, beams[i]);
		if (beam > 0)
			cmd_ln_set_float64_r(config, beams[i], beam);
	}
	rv = ps_set_fsg(ps, name, fsg);
	for (i = 0; i < 3; i++)
		cmd_ln_set_float64_r(config, beams[i], kept[i]);
	fsg_model_free(fsg);
	return rv;
}
