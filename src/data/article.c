/* Large JSON articles as a content service hands them out: nested, most of it prose, 22,615 bytes
 * as compact JSON and about 30 KB indented by two, as in a published comparison of Redis and
 * MongoDB (which stored one article under each key: identical=1). */
#include <math.h>

#include "core/units.h"
#include "data/compose.h"
#include "data/dataset.h"

struct article {
    int64_t bytes;
    bool identical;
};

/* What an article has without comments goes into the least, with a body. */
#define ARTICLE_LEAST 4096
#define ARTICLE_MOST  (16 * 1024 * 1024)
/* One comment for so many bytes above that: with them a fourth of the indented text is blanks. */
#define BYTES_PER_COMMENT 330
#define SECTION_BYTES     2600

static const struct option_spec article_options[] = {
    {"bytes", OPTION_INTEGER, offsetof(struct article, bytes), ARTICLE_LEAST, ARTICLE_MOST, NULL,
     "bytes of an article as compact JSON (22615)"},
    {"identical", OPTION_FLAG, offsetof(struct article, identical), 0, 0, NULL,
     "the same article under each key"},
    {0}};

static void article_defaults(void *state)
{
    struct article *article = state;
    article->bytes = 22615;
}

static int article_open(struct dataset *dataset, struct tare_error *error)
{
    (void)dataset;
    (void)error;
    return 0;
}

/* Length as compact JSON of a value in whose texts nothing is escaped. */
static size_t json_length(const struct value *value)
{
    bool object = value->type == VALUE_OBJECT;
    if (value->type == VALUE_TEXT)
        return value->as.text.length + 2;
    if (value->type == VALUE_DOUBLE) /* a whole one has ".0" behind it */
        return (size_t)value_text_length(value) + (value->as.real == floor(value->as.real) ? 2 : 0);
    if (!object && value->type != VALUE_ARRAY)
        return (size_t)value_text_length(value);
    size_t count = value->as.children.count, length = 2 + (count ? count - 1 : 0);
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->as.children.items[i];
        length += json_length(&member->value) + (object ? member->name.length + 3 : 0);
    }
    return length;
}

static struct members person(struct random *random, struct arena *arena)
{
    struct members person = members_of(arena, 2);
    const char *first = compose_first_name(random), *last = compose_last_name(random);
    members_text(&person, "name", compose_text(arena, "%s %s", first, last));
    members_integer(&person, "reputation", (int64_t)random_below(random, 20000));
    return person;
}

static struct members author(struct random *random, const struct topic *topic, struct arena *arena)
{
    struct members author = members_of(arena, 5), contact = members_of(arena, 2);
    const char *first = compose_first_name(random), *last = compose_last_name(random);
    members_text(&author, "name", compose_text(arena, "%s %s", first, last));
    members_text(&author, "about", compose_prose(random, topic, 120, arena));
    members_text(&author, "city", slice_text(compose_city(random)));
    members_text(&contact, "email", compose_text(arena, "%s.%s@example.org", first, last));
    members_text(&contact, "page",
                 compose_text(arena, "https://example.org/people/%s-%s", first, last));
    members_object(&author, "contact", &contact);
    return author;
}

static struct members images(struct random *random, const struct topic *topic, struct arena *arena)
{
    struct members images = members_of(arena, 4);
    size_t count = 2 + random_below(random, 3);
    for (size_t i = 0; i < count; i++) {
        struct members image = members_of(arena, 4);
        members_text(&image, "source",
                     compose_text(arena, "https://example.org/images/%08x.jpg",
                                  (unsigned)(random_next(random) >> 32)));
        members_integer(&image, "width", 640 + 160 * (int64_t)random_below(random, 9));
        members_integer(&image, "height", 480 + 120 * (int64_t)random_below(random, 9));
        members_text(&image, "caption", compose_heading(random, topic, 9, arena));
        members_object(&images, "", &image);
    }
    return images;
}

static struct members topic_words(struct random *random, const struct topic *topic, size_t count,
                                  struct arena *arena)
{
    struct members tags = members_of(arena, count);
    for (size_t i = 0; i < count; i++)
        members_text(&tags, "", compose_topic_word(random, topic));
    return tags;
}

static struct members related(struct random *random, const struct topic *topic, struct arena *arena)
{
    struct members related = members_of(arena, 6);
    for (size_t i = 0; i < 6; i++) {
        struct members one = members_of(arena, 3);
        members_integer(&one, "number", (int64_t)random_below(random, 1000000));
        members_text(&one, "title", compose_heading(random, topic, 5, arena));
        members_real(&one, "score", (double)random_below(random, 1000) / 1000);
        members_object(&related, "", &one);
    }
    return related;
}

static struct members comments(struct random *random, const struct topic *topic, size_t count,
                               struct arena *arena)
{
    struct members comments = members_of(arena, count);
    for (size_t i = 0; i < count; i++) {
        struct members comment = members_of(arena, 6);
        struct members by = person(random, arena);
        members_object(&comment, "by", &by);
        members_text(&comment, "written", compose_time(random, arena));
        members_text(&comment, "text",
                     compose_prose(random, topic, 40 + random_below(random, 121), arena));
        members_integer(&comment, "likes", (int64_t)random_below(random, 300));
        members_boolean(&comment, "edited", random_below(random, 8) == 0);
        if (i && random_below(random, 3) == 0)
            members_integer(&comment, "answers", (int64_t)random_below(random, i));
        else
            members_null(&comment, "answers");
        members_object(&comments, "", &comment);
    }
    return comments;
}

/* Sections of two paragraphs each, of exactly so many bytes as compact JSON. */
static struct members sections(struct random *random, const struct topic *topic, size_t bytes,
                               struct arena *arena)
{
    size_t count = (bytes + SECTION_BYTES / 2) / SECTION_BYTES;
    if (count == 0)
        count = 1;
    struct members sections = members_of(arena, count);
    bytes -= 2 + (count - 1); /* brackets, commas */
    for (size_t i = 0; i < count; i++) {
        size_t share = bytes / (count - i);
        struct members section = members_of(arena, 2), paragraphs = members_of(arena, 2);
        struct slice heading = compose_heading(random, topic, 3, arena);
        size_t prose =
            share - strlen("{\"heading\":\"\",\"paragraphs\":[\"\",\"\"]}") - heading.length;
        members_text(&paragraphs, "", compose_prose(random, topic, prose / 2, arena));
        members_text(&paragraphs, "", compose_prose(random, topic, prose - prose / 2, arena));
        members_text(&section, "heading", heading);
        members_array(&section, "paragraphs", &paragraphs);
        members_object(&sections, "", &section);
        bytes -= share;
    }
    return sections;
}

static struct slice article_key(const struct dataset *dataset, int64_t index, struct arena *arena)
{
    (void)dataset;
    return numbered_text("article:", index, arena);
}

static int article_read(struct dataset *dataset, int64_t index, struct arena *arena,
                        struct record *record, struct tare_error *error)
{
    (void)error;
    const struct article *article = dataset->state;
    struct random random = random_at(dataset->seed, article->identical ? 0 : index, 0);
    struct topic topic = topic_draw(&random);
    struct members all = members_of(arena, 12);
    members_text(&all, "title", compose_heading(&random, &topic, 6, arena));
    members_text(&all, "language", slice_text("en"));
    members_text(&all, "published", compose_time(&random, arena));
    members_boolean(&all, "featured", random_below(&random, 4) == 0);
    members_integer(&all, "views", (int64_t)random_below(&random, 5000000));
    members_real(&all, "rating", (double)random_below(&random, 500) / 100);
    struct members by = author(&random, &topic, arena), pictures = images(&random, &topic, arena),
                   tags = topic_words(&random, &topic, 6, arena),
                   others = related(&random, &topic, arena);
    members_object(&all, "author", &by);
    members_array(&all, "tags", &tags);
    members_array(&all, "images", &pictures);
    members_array(&all, "related", &others);
    size_t target = (size_t)article->bytes;
    struct members said =
        comments(&random, &topic, (target - ARTICLE_LEAST) / BYTES_PER_COMMENT, arena);
    members_array(&all, "comments", &said);

    struct value whole = {.type = VALUE_OBJECT,
                          .as.children = {.items = all.items, .count = all.count}};
    size_t body = target - json_length(&whole) - strlen(",\"sections\":");
    struct members text = sections(&random, &topic, body, arena);
    members_array(&all, "sections", &text);
    *record = (struct record){
        .key = article_key(dataset, index, arena), .fields = all.items, .field_count = all.count};
    return 0;
}

static char *article_describe(const struct dataset *dataset)
{
    const struct article *article = dataset->state;
    char bytes[UNITS_SIZE];
    return memory_format("%s bytes each as compact JSON%s", units_count(bytes, article->bytes),
                         article->identical ? ", all the same" : "");
}

const struct dataset_kind dataset_article = {
    .name = "article",
    .summary = "large articles: nested, text-like",
    .example = "article:bytes=22615",
    .options = article_options,
    .state_size = sizeof(struct article),
    .defaults = article_defaults,
    .open = article_open,
    .read = article_read,
    .key = article_key,
    .describe = article_describe,
};
