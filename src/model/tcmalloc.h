/* MongoDB's tcmalloc: what its model and the model of MongoDB share. */
#ifndef TARE_MODEL_TCMALLOC_H
#define TARE_MODEL_TCMALLOC_H

#include "model/block.h"

#define TCMALLOC_PAGE       4096 /* kPageShift 12 in MongoDB's build; formattedString says it too */
#define TCMALLOC_SMALL_MOST 16384 /* the largest class */
/* Its metadata comes from the system in chunks of this size (common.cc, kMetadataAllocChunkSize).
 */
#define TCMALLOC_METADATA_CHUNK (8 * 1024 * 1024)

/* Bytes of a span that holds objects of this class; 0 where it is none. */
int64_t tcmalloc_span(int64_t size);

#endif
