//go:build flite && cgo

#include "shim.h"
#include "_cgo_export.h"

#include <stdlib.h>

cst_voice *register_cmu_us_slt(const char *);
cst_voice *register_cmu_us_rms(const char *);
cst_voice *register_cmu_us_kal16(const char *);

// hk_voice returns a voice, made at the first call. The caller serialises.
cst_voice *hk_voice(int which)
{
	switch (which) {
	case HK_SLT:
		return register_cmu_us_slt(NULL);
	case HK_RMS:
		return register_cmu_us_rms(NULL);
	case HK_KAL16:
		return register_cmu_us_kal16(NULL);
	}
	return NULL;
}

// Noise of the utterance that this thread synthesizes, NULL outside synthesis.
static __thread uint64_t *noise;

// rand takes the place of libc's for the whole program. flite draws the sign of
// its mixed excitation from rand, which is one sequence for the process: the
// same sentence would sound different each time, depend on what else is spoken,
// and its threads would queue for libc's lock. While a thread synthesizes it
// draws from the utterance's own generator (splitmix64, Steele et al. 2014);
// everybody else gets random, which is what glibc's rand is.
int rand(void)
{
	uint64_t z;

	if (noise == NULL)
		return (int)random();
	z = (*noise += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (int)((z ^ (z >> 31)) >> 33);
}

typedef struct {
	uintptr_t receiver;
	int32_t *marks; // sample where each token begins, -1 when it has no sound
	int marks_max;
	int marked;
	int stopped;
} hk_call;

// Samples of one utterance at which token i begins. The duration model has
// fixed the ends of all segments before the first sample exists.
static void mark_tokens(const cst_utterance *utt, hk_call *call, int rate)
{
	cst_item *token, *word;
	int i = 0;

	for (token = relation_head(utt_relation((cst_utterance *)utt, "Token"));
	     token != NULL && i < call->marks_max; token = item_next(token), i++) {
		call->marks[i] = -1;
		for (word = item_daughter(token); word != NULL; word = item_next(word)) {
			cst_item *syl = item_daughter(item_as(word, "SylStructure"));
			cst_item *seg = syl ? item_as(item_daughter(syl), "Segment") : NULL;
			cst_item *before = seg ? item_prev(seg) : NULL;

			if (seg == NULL)
				continue;
			call->marks[i] = before ? (int32_t)(item_feat_float(before, "end") * rate) : 0;
			break;
		}
	}
	for (; i < call->marks_max; i++)
		call->marks[i] = -1;
	call->marked = 1;
}

static int on_chunk(const cst_wave *wave, int start, int size, int last,
                    cst_audio_streaming_info *info)
{
	hk_call *call = info->userdata;
	uint64_t *own = noise;
	int stop;

	(void)last;
	if (!call->marked)
		mark_tokens(info->utt, call, wave->sample_rate);
	if (size <= 0)
		return CST_AUDIO_STREAM_CONT;
	// The receiver may run other C code on this thread.
	noise = NULL;
	stop = goFliteChunk(call->receiver, wave->samples + start, size);
	noise = own;
	if (stop)
		call->stopped = 1;
	return stop ? CST_AUDIO_STREAM_STOP : CST_AUDIO_STREAM_CONT;
}

int hk_speak(cst_voice *voice, const char *text, double stretch, int min_samples,
             int32_t *marks, int marks_max, uintptr_t receiver)
{
	hk_call call = {receiver, marks, marks_max, 0, 0};
	uint64_t seed = 1, *outer = noise;
	cst_audio_streaming_info *info = new_audio_streaming_info();
	cst_utterance *utt = new_utterance();

	info->asc = on_chunk;
	info->min_buffsize = min_samples - 1;
	info->userdata = &call;
	utt_set_input_text(utt, text);
	// Settings go to the utterance, never to the voice: voices are shared.
	// The utterance owns info from here on.
	feat_set(utt->features, "streaming_info", audio_streaming_info_val(info));
	feat_set_float(utt->features, "duration_stretch", (float)stretch);
	noise = &seed;
	utt = flite_do_synth(utt, voice, utt_synth);
	noise = outer;
	if (utt == NULL)
		return call.stopped ? 1 : -1;
	delete_utterance(utt);
	return call.stopped;
}
