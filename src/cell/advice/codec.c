/* JSON's punctuation and number texts, and what MessagePack would save. */
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "core/units.h"

static void consider(const struct advising *advising)
{
    const struct encoding *encoding = advising->question->request->encoding;
    size_t codec = advice_codec_place(encoding);
    struct advice_weight other;
    char saved[UNITS_SIZE];
    if (codec == encoding->step_count || strcmp(encoding->steps[codec].kind->name, "json") != 0)
        return;
    char *changed = advice_encoding(advising, codec, 1, "msgpack");
    if (advice_weigh(advising, &(struct advice_variant){.encoding = changed}, &other) &&
        advice_share(advising, &other) >= ADVICE_SHARE_LEAST)
        advice_add(advising, "codec", changed, &other,
                   "MessagePack instead of JSON, %s, would save %s bytes a record", changed,
                   units_decimal(saved, advising->weight.allocated - other.allocated, 1));
    free(changed);
}

const struct advice_kind advice_codec = {
    .name = "codec",
    .summary = "what MessagePack would save where records are JSON",
    .consider = consider,
};
