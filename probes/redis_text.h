/* Parsers of the texts that Redis answers, apart from the asking, for tests. */
#ifndef TARE_PROBES_REDIS_TEXT_H
#define TARE_PROBES_REDIS_TEXT_H

#include "probes/probe.h"

/* INFO's text into info.SECTION.FIELD. */
void redis_info_parse(const char *text, struct figures *figures);

/* jemalloc's malloc_stats_print text into malloc.*: see redis_malloc_stats.c. */
void redis_malloc_stats_parse(const char *text, struct figures *figures);

/* Whether the message is a store's word that the server itself refuses the question: it doesn't
 * know the command (an older one, or one whose command was renamed), or doesn't let this user use
 * it. Not a lost connection, nor "LOADING" and what else passes by itself. */
bool redis_is_refusal(const char *message, const char *address, const char *question);

/* Asks what an older server may not know: a refusal becomes the figure `missing` with the server's
 * words; a lost connection stays an error. */
int redis_ask_if_known(struct store *store, const char *question, const char *prefix,
                       const char *missing, struct figures *figures, struct tare_error *error);

#endif
