#ifndef HOCKET_FLITE_SHIM_H
#define HOCKET_FLITE_SHIM_H

#include <stdint.h>
#include <flite/flite.h>

// Voices, in the order of Voices() in options.go.
enum { HK_SLT, HK_RMS, HK_KAL16, HK_VOICES };

cst_voice *hk_voice(int which);

// hk_speak synthesizes one clause and calls goFliteChunk with consecutive
// samples while they are made. tokens_max bounds the marks. It returns 0, or 1
// when the receiver stopped it, or -1 when flite failed.
int hk_speak(cst_voice *voice, const char *text, double stretch, int min_samples,
             int32_t *marks, int marks_max, uintptr_t receiver);

#endif
