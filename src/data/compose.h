/* What generators of nested records share: members added one by one, and text that reads like
 * prose. All memory is the arena's. */
#ifndef TARE_DATA_COMPOSE_H
#define TARE_DATA_COMPOSE_H

#include "core/random.h"
#include "data/record.h"

/* Members of a record, object or array, with room for a number that is known beforehand. */
struct members {
    struct arena *arena;
    struct member *items;
    size_t count, capacity;
};

struct members members_of(struct arena *arena, size_t capacity);
/* Each adds a member; name is "" in an array, and is borrowed, as is the text. */
void members_text(struct members *members, const char *name, struct slice text);
void members_integer(struct members *members, const char *name, int64_t integer);
void members_real(struct members *members, const char *name, double real);
void members_boolean(struct members *members, const char *name, bool boolean);
void members_null(struct members *members, const char *name);
void members_object(struct members *members, const char *name, const struct members *children);
void members_array(struct members *members, const char *name, const struct members *children);

/* printf into the arena, up to 255 characters. */
struct slice compose_text(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A day and time within ten years from 2014, "2019-03-04T05:06:07Z"; a day, "2019-03-04". */
struct slice compose_time(struct random *random, struct arena *arena);
struct slice compose_day(struct random *random, struct arena *arena);
const char *compose_first_name(struct random *random);
const char *compose_last_name(struct random *random);
const char *compose_city(struct random *random);
const char *compose_country(struct random *random);
/* One of the names, NULL-terminated, each as likely. */
const char *compose_choice(struct random *random, const char *const *names);

/* What a text is about: words and turns of phrase that it comes back to. */
#define TOPIC_WORDS   24
#define TOPIC_PHRASES 32
#define PHRASE_WORDS  7
struct topic {
    unsigned short words[TOPIC_WORDS];
    unsigned short phrases[TOPIC_PHRASES][PHRASE_WORDS];
};
struct topic topic_draw(struct random *random);
/* Sentences of exactly `length` bytes, lower-case ASCII but for their beginnings. */
struct slice compose_prose(struct random *random, const struct topic *topic, size_t length,
                           struct arena *arena);
/* Words alone, the first with a capital letter: a heading, a title. */
struct slice compose_heading(struct random *random, const struct topic *topic, size_t words,
                             struct arena *arena);
/* A word of the topic. */
struct slice compose_topic_word(struct random *random, const struct topic *topic);

#endif
