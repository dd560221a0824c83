/* Small records of players: those of a published comparison of Redis, MongoDB
 * and Riak, in which all but the name are the same; or varied ones. */
#include "core/random.h"
#include "data/dataset.h"

struct player {
    bool varied;
};

static const struct option_spec player_options[] = {
    {"varied", OPTION_FLAG, offsetof(struct player, varied), 0, 0, NULL,
     "a field id, names of 12 random characters, type warrior, age 18 to 77, level 0 to 99"},
    {0}};

#define VARIED_NAME_LENGTH 12

static void player_defaults(void *state)
{
    (void)state; /* zeroed: not varied */
}

static int player_open(struct dataset *dataset, struct tare_error *error)
{
    (void)dataset;
    (void)error;
    return 0;
}

static void add_text(struct record *record, const char *name, struct slice text)
{
    record->fields[record->field_count++] =
        (struct member){slice_text(name), {.type = VALUE_TEXT, .as.text = text}};
}

static void add_integer(struct record *record, const char *name, int64_t integer)
{
    record->fields[record->field_count++] =
        (struct member){slice_text(name), {.type = VALUE_INTEGER, .as.integer = integer}};
}

static struct slice player_key(const struct dataset *dataset, int64_t index, struct arena *arena)
{
    (void)dataset;
    return numbered_text("player:", index, arena);
}

static int player_read(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct tare_error *error)
{
    (void)error;
    const struct player *player = dataset->state;
    *record = (struct record){.key = player_key(dataset, index, arena),
                              .fields = arena_take(arena, 5 * sizeof *record->fields)};
    if (!player->varied) {
        add_text(record, "name", numbered_text("Player ", index, arena));
        add_text(record, "type", slice_text("Developer"));
        add_integer(record, "age", 34);
        add_integer(record, "level", 0);
        return 0;
    }
    struct random random = random_at(dataset->seed, index, 0);
    char *name = arena_take(arena, VARIED_NAME_LENGTH);
    random_printable(&random, name, VARIED_NAME_LENGTH);
    add_integer(record, "id", index);
    add_text(record, "name", slice_of(name, VARIED_NAME_LENGTH));
    add_text(record, "type", slice_text("warrior"));
    add_integer(record, "age", 18 + (int64_t)random_below(&random, 60));
    add_integer(record, "level", (int64_t)random_below(&random, 100));
    return 0;
}

const struct dataset_kind dataset_player = {
    .name = "player",
    .summary = "small records of players: name, type, age, level",
    .example = "player:varied",
    .options = player_options,
    .state_size = sizeof(struct player),
    .defaults = player_defaults,
    .open = player_open,
    .read = player_read,
    .key = player_key,
};
