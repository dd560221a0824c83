#include "data/compose.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

struct members members_of(struct arena *arena, size_t capacity)
{
    return (struct members){.arena = arena,
                            .items = arena_take(arena, capacity * sizeof(struct member)),
                            .capacity = capacity};
}

static struct value *add(struct members *members, const char *name, enum value_type type)
{
    if (members->count == members->capacity) {
        struct members larger = members_of(members->arena, members->capacity * 2 + 8);
        memcpy(larger.items, members->items, members->count * sizeof *members->items);
        larger.count = members->count;
        *members = larger;
    }
    struct member *member = &members->items[members->count++];
    *member = (struct member){slice_text(name), {.type = type}};
    return &member->value;
}

void members_text(struct members *members, const char *name, struct slice text)
{
    add(members, name, VALUE_TEXT)->as.text = text;
}

void members_integer(struct members *members, const char *name, int64_t integer)
{
    add(members, name, VALUE_INTEGER)->as.integer = integer;
}

void members_real(struct members *members, const char *name, double real)
{
    add(members, name, VALUE_DOUBLE)->as.real = real;
}

void members_boolean(struct members *members, const char *name, bool boolean)
{
    add(members, name, VALUE_BOOLEAN)->as.boolean = boolean;
}

void members_null(struct members *members, const char *name)
{
    add(members, name, VALUE_NULL);
}

static void add_children(struct members *members, const char *name, enum value_type type,
                         const struct members *children)
{
    struct value *value = add(members, name, type);
    value->as.children.items = children->items;
    value->as.children.count = children->count;
}

void members_object(struct members *members, const char *name, const struct members *children)
{
    add_children(members, name, VALUE_OBJECT, children);
}

void members_array(struct members *members, const char *name, const struct members *children)
{
    add_children(members, name, VALUE_ARRAY, children);
}

struct slice compose_text(struct arena *arena, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    return slice_of(arena_copy(arena, text, kept), kept);
}

static int draw(struct random *random, int low, int high)
{
    return low + (int)random_below(random, (uint64_t)(high - low + 1));
}

/* Days up to the 28th: every month has them. */
struct slice compose_day(struct random *random, struct arena *arena)
{
    int year = draw(random, 2014, 2023), month = draw(random, 1, 12), day = draw(random, 1, 28);
    return compose_text(arena, "%04d-%02d-%02d", year, month, day);
}

struct slice compose_time(struct random *random, struct arena *arena)
{
    struct slice day = compose_day(random, arena);
    int hour = draw(random, 0, 23), minute = draw(random, 0, 59), second = draw(random, 0, 59);
    return compose_text(arena, "%.*sT%02d:%02d:%02dZ", (int)day.length, day.bytes, hour, minute,
                        second);
}

const char *compose_choice(struct random *random, const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    return names[random_below(random, count)];
}

static const char *const first_names[] = {
    "Ada",   "Amir",   "Anna",  "Ben",   "Bruno",  "Carla",  "Chen",  "Clara", "David",
    "Diego", "Elena",  "Emil",  "Fatma", "Finn",   "Grace",  "Hana",  "Hugo",  "Ines",
    "Ivan",  "Jana",   "Jonas", "Karim", "Lea",    "Liam",   "Lucia", "Marco", "Mia",
    "Mohan", "Nadia",  "Nils",  "Olga",  "Omar",   "Paula",  "Pia",   "Rosa",  "Samir",
    "Sara",  "Stefan", "Tara",  "Tomas", "Ursula", "Viktor", "Yusuf", "Zoe",   NULL};
static const char *const last_names[] = {
    "Adler",   "Almeida", "Baker",  "Becker", "Brandt", "Castro", "Costa",  "Dahl",  "Diaz",
    "Eriksen", "Fischer", "Fuchs",  "Garcia", "Gruber", "Haas",   "Hansen", "Ito",   "Jansen",
    "Keller",  "Kovacs",  "Kumar",  "Lang",   "Lopez",  "Maier",  "Moreau", "Nagy",  "Novak",
    "Okafor",  "Olsen",   "Petrov", "Quinn",  "Rossi",  "Santos", "Sato",   "Silva", "Tanaka",
    "Vogel",   "Weber",   "Winter", "Yilmaz", NULL};
static const char *const cities[] = {
    "Aarhus", "Bergen",  "Bologna", "Cork",   "Gdansk",  "Ghent",   "Graz", "Kyoto",    "Lima",
    "Lyon",   "Malmo",   "Nagoya",  "Oporto", "Palermo", "Quito",   "Riga", "Salzburg", "Seville",
    "Split",  "Tallinn", "Tartu",   "Turku",  "Utrecht", "Vilnius", NULL};
static const char *const countries[] = {
    "Austria", "Belgium", "Chile", "Croatia", "Denmark",  "Estonia", "Finland", "France",
    "Ireland", "Italy",   "Japan", "Latvia",  "Portugal", "Spain",   "Sweden",  NULL};

const char *compose_first_name(struct random *random)
{
    return compose_choice(random, first_names);
}

const char *compose_last_name(struct random *random)
{
    return compose_choice(random, last_names);
}

const char *compose_city(struct random *random)
{
    return compose_choice(random, cities);
}

const char *compose_country(struct random *random)
{
    return compose_choice(random, countries);
}

/* --- Prose --- */

/* From the most common on, as English text has them; word k is drawn in proportion to 1 / (k + 2):
 * Zipf's law with Mandelbrot's offset. */
static const char *const words[] = {"the",
                                    "of",
                                    "and",
                                    "a",
                                    "to",
                                    "in",
                                    "is",
                                    "it",
                                    "that",
                                    "was",
                                    "for",
                                    "on",
                                    "are",
                                    "as",
                                    "with",
                                    "they",
                                    "be",
                                    "at",
                                    "one",
                                    "have",
                                    "this",
                                    "from",
                                    "or",
                                    "had",
                                    "by",
                                    "not",
                                    "but",
                                    "what",
                                    "some",
                                    "we",
                                    "can",
                                    "out",
                                    "other",
                                    "were",
                                    "all",
                                    "there",
                                    "when",
                                    "up",
                                    "use",
                                    "your",
                                    "how",
                                    "said",
                                    "an",
                                    "each",
                                    "she",
                                    "which",
                                    "do",
                                    "their",
                                    "time",
                                    "if",
                                    "will",
                                    "way",
                                    "about",
                                    "many",
                                    "then",
                                    "them",
                                    "write",
                                    "would",
                                    "like",
                                    "so",
                                    "these",
                                    "her",
                                    "long",
                                    "make",
                                    "thing",
                                    "see",
                                    "him",
                                    "two",
                                    "has",
                                    "look",
                                    "more",
                                    "day",
                                    "could",
                                    "go",
                                    "come",
                                    "did",
                                    "number",
                                    "sound",
                                    "no",
                                    "most",
                                    "people",
                                    "my",
                                    "over",
                                    "know",
                                    "water",
                                    "than",
                                    "call",
                                    "first",
                                    "who",
                                    "may",
                                    "down",
                                    "side",
                                    "been",
                                    "now",
                                    "find",
                                    "any",
                                    "new",
                                    "work",
                                    "part",
                                    "take",
                                    "get",
                                    "place",
                                    "made",
                                    "live",
                                    "where",
                                    "after",
                                    "back",
                                    "little",
                                    "only",
                                    "round",
                                    "man",
                                    "year",
                                    "came",
                                    "show",
                                    "every",
                                    "good",
                                    "me",
                                    "give",
                                    "our",
                                    "under",
                                    "name",
                                    "very",
                                    "through",
                                    "just",
                                    "form",
                                    "sentence",
                                    "great",
                                    "think",
                                    "say",
                                    "help",
                                    "low",
                                    "line",
                                    "differ",
                                    "turn",
                                    "cause",
                                    "much",
                                    "mean",
                                    "before",
                                    "move",
                                    "right",
                                    "boy",
                                    "old",
                                    "too",
                                    "same",
                                    "tell",
                                    "does",
                                    "set",
                                    "three",
                                    "want",
                                    "air",
                                    "well",
                                    "also",
                                    "play",
                                    "small",
                                    "end",
                                    "put",
                                    "home",
                                    "read",
                                    "hand",
                                    "port",
                                    "large",
                                    "spell",
                                    "add",
                                    "even",
                                    "land",
                                    "here",
                                    "must",
                                    "big",
                                    "high",
                                    "such",
                                    "follow",
                                    "act",
                                    "why",
                                    "ask",
                                    "men",
                                    "change",
                                    "went",
                                    "light",
                                    "kind",
                                    "off",
                                    "need",
                                    "house",
                                    "picture",
                                    "try",
                                    "us",
                                    "again",
                                    "animal",
                                    "point",
                                    "mother",
                                    "world",
                                    "near",
                                    "build",
                                    "self",
                                    "earth",
                                    "father",
                                    "head",
                                    "stand",
                                    "own",
                                    "page",
                                    "should",
                                    "country",
                                    "found",
                                    "answer",
                                    "school",
                                    "grow",
                                    "study",
                                    "still",
                                    "learn",
                                    "plant",
                                    "cover",
                                    "food",
                                    "sun",
                                    "four",
                                    "between",
                                    "state",
                                    "keep",
                                    "eye",
                                    "never",
                                    "last",
                                    "let",
                                    "thought",
                                    "city",
                                    "tree",
                                    "cross",
                                    "farm",
                                    "hard",
                                    "start",
                                    "might",
                                    "story",
                                    "saw",
                                    "far",
                                    "sea",
                                    "draw",
                                    "left",
                                    "late",
                                    "run",
                                    "while",
                                    "press",
                                    "close",
                                    "night",
                                    "real",
                                    "life",
                                    "few",
                                    "north",
                                    "open",
                                    "seem",
                                    "together",
                                    "next",
                                    "white",
                                    "children",
                                    "begin",
                                    "got",
                                    "walk",
                                    "example",
                                    "ease",
                                    "paper",
                                    "group",
                                    "always",
                                    "music",
                                    "those",
                                    "both",
                                    "mark",
                                    "often",
                                    "letter",
                                    "until",
                                    "mile",
                                    "river",
                                    "car",
                                    "feet",
                                    "care",
                                    "second",
                                    "book",
                                    "carry",
                                    "took",
                                    "science",
                                    "eat",
                                    "room",
                                    "friend",
                                    "began",
                                    "idea",
                                    "fish",
                                    "mountain",
                                    "stop",
                                    "once",
                                    "base",
                                    "hear",
                                    "horse",
                                    "cut",
                                    "sure",
                                    "watch",
                                    "color",
                                    "face",
                                    "wood",
                                    "main",
                                    "enough",
                                    "plain",
                                    "girl",
                                    "usual",
                                    "young",
                                    "ready",
                                    "above",
                                    "ever",
                                    "red",
                                    "list",
                                    "though",
                                    "feel",
                                    "talk",
                                    "bird",
                                    "soon",
                                    "body",
                                    "dog",
                                    "family",
                                    "direct",
                                    "pose",
                                    "leave",
                                    "song",
                                    "measure",
                                    "door",
                                    "product",
                                    "black",
                                    "short",
                                    "numeral",
                                    "class",
                                    "wind",
                                    "question",
                                    "happen",
                                    "complete",
                                    "ship",
                                    "area",
                                    "half",
                                    "rock",
                                    "order",
                                    "fire",
                                    "south",
                                    "problem",
                                    "piece",
                                    "told",
                                    "knew",
                                    "pass",
                                    "since",
                                    "top",
                                    "whole",
                                    "king",
                                    "space",
                                    "heard",
                                    "best",
                                    "hour",
                                    "better",
                                    "during",
                                    "hundred",
                                    "five",
                                    "remember",
                                    "step",
                                    "early",
                                    "hold",
                                    "west",
                                    "ground",
                                    "interest",
                                    "reach",
                                    "fast",
                                    "verb",
                                    "sing",
                                    "listen",
                                    "six",
                                    "table",
                                    "travel",
                                    "less",
                                    "morning",
                                    "simple",
                                    "several",
                                    "vowel",
                                    "toward",
                                    "war",
                                    "lay",
                                    "against",
                                    "pattern",
                                    "slow",
                                    "center",
                                    "love",
                                    "person",
                                    "money",
                                    "serve",
                                    "appear",
                                    "road",
                                    "map",
                                    "rain",
                                    "rule",
                                    "govern",
                                    "pull",
                                    "cold",
                                    "notice",
                                    "voice",
                                    "unit",
                                    "power",
                                    "town",
                                    "fine",
                                    "certain",
                                    "fly",
                                    "fall",
                                    "lead",
                                    "cry",
                                    "dark",
                                    "machine",
                                    "note",
                                    "wait",
                                    "plan",
                                    "figure",
                                    "star",
                                    "box",
                                    "noun",
                                    "field",
                                    "rest",
                                    "correct",
                                    "able",
                                    "pound",
                                    "done",
                                    "beauty",
                                    "drive",
                                    "stood",
                                    "contain",
                                    "front",
                                    "teach",
                                    "week",
                                    "final",
                                    "gave",
                                    "green",
                                    "quick",
                                    "develop",
                                    "ocean",
                                    "warm",
                                    "free",
                                    "minute",
                                    "strong",
                                    "special",
                                    "mind",
                                    "behind",
                                    "clear",
                                    "tail",
                                    "produce",
                                    "fact",
                                    "street",
                                    "inch",
                                    "multiply",
                                    "nothing",
                                    "course",
                                    "stay",
                                    "wheel",
                                    "full",
                                    "force",
                                    "blue",
                                    "object",
                                    "decide",
                                    "surface",
                                    "deep",
                                    "moon",
                                    "island",
                                    "foot",
                                    "system",
                                    "busy",
                                    "test",
                                    "record",
                                    "boat",
                                    "common",
                                    "gold",
                                    "possible",
                                    "plane",
                                    "stead",
                                    "dry",
                                    "wonder",
                                    "laugh",
                                    "thousand",
                                    "ago",
                                    "ran",
                                    "check",
                                    "game",
                                    "shape",
                                    "equate",
                                    "hot",
                                    "miss",
                                    "brought",
                                    "heat",
                                    "snow",
                                    "tire",
                                    "bring",
                                    "yes",
                                    "distant",
                                    "fill",
                                    "east",
                                    "paint",
                                    "language",
                                    "among",
                                    "government",
                                    "information",
                                    "development",
                                    "international",
                                    "understand",
                                    "experience",
                                    "administration",
                                    "responsibility",
                                    "environmental",
                                    "organization",
                                    "important",
                                    "different"};

#define WORD_COUNT (sizeof words / sizeof words[0])

/* Slots in proportion to the words' shares, so that 12 random bits pick a word. */
#define SLOTS 4096
static unsigned short slots[SLOTS];
static unsigned char word_lengths[WORD_COUNT];

/* Filled from constants alone: whoever fills it writes the same. */
static void fill_slots(void)
{
    static bool filled;
    if (filled)
        return;
    double sum = 0, so_far = 0;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        word_lengths[i] = (unsigned char)strlen(words[i]);
        sum += 1.0 / (double)(i + 2);
    }
    size_t slot = 0;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        so_far += 1.0 / (double)(i + 2);
        size_t end = i + 1 == WORD_COUNT ? SLOTS : (size_t)(so_far / sum * SLOTS);
        while (slot < end)
            slots[slot++] = (unsigned short)i;
    }
    filled = true;
}

/* The commonest words are in every text: a topic is of the others. */
#define COMMON_WORDS 100
/* Of 64 words that are not the topic's, so many begin a phrase: zstd at level 3 then makes a fourth
 * of an article, as of English prose of its size with a frame of JSON. */
#define PHRASES_OF_64 36

/* Words of one text. One in eight is the topic's; of the others some begin one of its phrases. A
 * draw of 64 bits makes three: three bits and five values whether, twelve bits which. */
struct word_source {
    struct random *random;
    const struct topic *topic;
    uint64_t bits;
    int left; /* words that the bits suffice for */
    const unsigned short *phrase;
    int phrase_left;
};

static size_t next_word(struct word_source *source)
{
    if (source->phrase_left) {
        source->phrase_left--;
        return *source->phrase++;
    }
    if (source->left == 0) {
        source->bits = random_next(source->random);
        source->left = 3;
    }
    unsigned bits = (unsigned)(source->bits & 0x1fffff);
    source->bits >>= 21;
    source->left--;
    unsigned which = bits >> 9;
    if ((bits & 7) == 0)
        return source->topic->words[which % TOPIC_WORDS];
    if ((bits >> 3 & 63) < PHRASES_OF_64) {
        source->phrase = source->topic->phrases[which % TOPIC_PHRASES];
        source->phrase_left = PHRASE_WORDS - 1;
        return *source->phrase++;
    }
    return slots[which];
}

struct topic topic_draw(struct random *random)
{
    fill_slots();
    struct topic topic;
    for (size_t i = 0; i < TOPIC_WORDS; i++)
        topic.words[i] =
            (unsigned short)(COMMON_WORDS + random_below(random, WORD_COUNT - COMMON_WORDS));
    for (size_t i = 0; i < TOPIC_PHRASES; i++) {
        for (size_t word = 0; word < PHRASE_WORDS; word++)
            topic.phrases[i][word] = slots[random_below(random, SLOTS)];
    }
    return topic;
}

/* A word of that length, 1 to 14: the first from a drawn one on. */
static const char *word_of_length(struct random *random, size_t length)
{
    size_t word = random_below(random, WORD_COUNT);
    while (word_lengths[word] != length)
        word = (word + 1) % WORD_COUNT;
    return words[word];
}

#define LONGEST_WORD   14
#define SENTENCE_LEAST 6
#define SENTENCE_MOST  20
/* What the last word of a text, of any length, may have to fill: a blank and itself. */
#define LAST_ROOM 12

struct slice compose_prose(struct random *random, const struct topic *topic, size_t length,
                           struct arena *arena)
{
    fill_slots();
    char *text = arena_take(arena, length + 2 * LONGEST_WORD + 4);
    struct word_source source = {.random = random, .topic = topic};
    size_t place = 0, left = 0; /* words left in the sentence */
    bool begin = true;
    /* The end of the text is ".", behind a word that fills what is left. */
    while (length > place + LAST_ROOM + 1 + LONGEST_WORD + 2) {
        if (begin) {
            left = SENTENCE_LEAST + random_below(random, SENTENCE_MOST - SENTENCE_LEAST + 1);
            if (place)
                text[place++] = ' ';
        } else {
            text[place++] = ' ';
        }
        size_t word = next_word(&source), size = word_lengths[word];
        memcpy(text + place, words[word], size);
        if (begin)
            text[place] = (char)toupper((unsigned char)text[place]);
        place += size;
        left--;
        begin = left == 0;
        if (begin)
            text[place++] = '.';
        else if (left == 5)
            text[place++] = ',';
    }
    while (place + 1 < length) {
        size_t room = length - place - 1; /* before the last "." */
        bool blank = place > 0;
        if (room <= (size_t)blank) {
            text[place++] = 's';
            continue;
        }
        size_t size = room - blank;
        if (size > LAST_ROOM)
            size = size > 2 * LAST_ROOM ? LAST_ROOM : size / 2;
        if (blank)
            text[place++] = ' ';
        memcpy(text + place, word_of_length(random, size), size);
        place += size;
    }
    if (place < length)
        text[place] = '.';
    return slice_of(text, length);
}

struct slice compose_heading(struct random *random, const struct topic *topic, size_t count,
                             struct arena *arena)
{
    fill_slots();
    char *text = arena_take(arena, count * (LONGEST_WORD + 1) + 1);
    struct word_source source = {.random = random, .topic = topic};
    size_t place = 0;
    for (size_t i = 0; i < count; i++) {
        /* Every second word is the topic's. */
        size_t word = i % 2 ? next_word(&source) : topic->words[random_below(random, TOPIC_WORDS)];
        if (i)
            text[place++] = ' ';
        memcpy(text + place, words[word], word_lengths[word]);
        place += word_lengths[word];
    }
    text[0] = (char)toupper((unsigned char)text[0]);
    return slice_of(text, place);
}

struct slice compose_topic_word(struct random *random, const struct topic *topic)
{
    return slice_text(words[topic->words[random_below(random, TOPIC_WORDS)]]);
}
