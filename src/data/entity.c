/* Small entities of a trading company, of several types and shapes: 5,163 of them, as many as a
 * published comparison of Redis and RavenDB stored. */
#include "data/compose.h"
#include "data/dataset.h"

/* State: nothing but the seed decides. A struct may not be empty. */
struct entity {
    char unused;
};

#define ENTITY_RECORDS 5163

static const struct option_spec entity_options[] = {{0}};

static void entity_defaults(void *state)
{
    (void)state;
}

static int entity_open(struct dataset *dataset, struct tare_error *error)
{
    (void)error;
    dataset->usual_records = ENTITY_RECORDS;
    return 0;
}

static const char *const goods[] = {
    "tea",     "coffee", "honey", "cheese", "pasta",  "rice", "bread",   "pears", "plums", "olives",
    "mustard", "trout",  "soap",  "candle", "pepper", "salt", "walnuts", "cider", NULL};
static const char *const makes[] = {"dried", "fresh", "smoked", "organic", "fine", "dark",
                                    "mild",  "old",   "sweet",  "roasted", NULL};
static const char *const posts[] = {"buyer",   "owner",    "sales agent", "accountant",
                                    "manager", "director", NULL};

static int64_t draw(struct random *random, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(random, (uint64_t)(high - low + 1));
}

/* A price in whole cents, so that its decimal text is short. */
static double price(struct random *random, int64_t most)
{
    return (double)draw(random, 50, most) / 100;
}

static struct slice full_name(struct random *random, struct arena *arena)
{
    const char *first = compose_first_name(random), *last = compose_last_name(random);
    return compose_text(arena, "%s %s", first, last);
}

static struct members address(struct random *random, struct arena *arena)
{
    struct members address = members_of(arena, 5);
    const char *street = compose_last_name(random);
    members_text(&address, "street",
                 compose_text(arena, "%s street %d", street, (int)draw(random, 1, 250)));
    members_text(&address, "city", slice_text(compose_city(random)));
    members_text(&address, "postcode", compose_text(arena, "%05d", (int)draw(random, 1000, 99999)));
    members_text(&address, "country", slice_text(compose_country(random)));
    return address;
}

static struct slice phone(struct random *random, struct arena *arena)
{
    int area = (int)draw(random, 20, 99), number = (int)draw(random, 1000000, 9999999);
    return compose_text(arena, "+43 %d %d", area, number);
}

static void customer(struct random *random, struct arena *arena, struct members *entity)
{
    const char *last = compose_last_name(random), *city = compose_city(random);
    members_text(entity, "company", compose_text(arena, "%s & Sons, %s", last, city));
    members_text(entity, "contact", full_name(random, arena));
    members_text(entity, "post", slice_text(compose_choice(random, posts)));
    struct members at = address(random, arena);
    members_object(entity, "address", &at);
    members_text(entity, "phone", phone(random, arena));
    if (random_below(random, 3) == 0)
        members_null(entity, "fax");
    else
        members_text(entity, "fax", phone(random, arena));
}

static void product(struct random *random, struct arena *arena, struct members *entity)
{
    const char *make = compose_choice(random, makes), *good = compose_choice(random, goods);
    members_text(entity, "name", compose_text(arena, "%s %s", make, good));
    members_integer(entity, "supplier", draw(random, 1, 60));
    members_integer(entity, "category", draw(random, 1, 12));
    members_real(entity, "price", price(random, 20000));
    members_integer(entity, "stock", draw(random, 0, 400));
    members_integer(entity, "ordered", draw(random, 0, 3) ? 0 : draw(random, 10, 90));
    members_boolean(entity, "discontinued", random_below(random, 10) == 0);
}

static void order(struct random *random, struct arena *arena, struct members *entity)
{
    members_integer(entity, "customer", draw(random, 1, 900));
    members_integer(entity, "employee", draw(random, 1, 40));
    members_text(entity, "ordered", compose_time(random, arena));
    if (random_below(random, 20) == 0)
        members_null(entity, "shipped");
    else
        members_text(entity, "shipped", compose_day(random, arena));
    members_real(entity, "freight", price(random, 30000));
    struct members to = address(random, arena);
    members_object(entity, "to", &to);
}

static void order_line(struct random *random, struct arena *arena, struct members *entity)
{
    (void)arena;
    members_integer(entity, "order", draw(random, 1, 1600));
    members_integer(entity, "product", draw(random, 1, 300));
    members_real(entity, "price", price(random, 20000));
    members_integer(entity, "quantity", draw(random, 1, 60));
    members_real(entity, "discount", (double)draw(random, 0, 5) / 20);
}

static void employee(struct random *random, struct arena *arena, struct members *entity)
{
    members_text(entity, "name", full_name(random, arena));
    members_text(entity, "post", slice_text(compose_choice(random, posts)));
    members_text(entity, "born", compose_day(random, arena));
    members_text(entity, "hired", compose_day(random, arena));
    struct members at = address(random, arena);
    members_object(entity, "address", &at);
    struct topic topic = topic_draw(random);
    members_text(entity, "notes",
                 compose_prose(random, &topic, (size_t)draw(random, 80, 240), arena));
}

static void supplier(struct random *random, struct arena *arena, struct members *entity)
{
    const char *good = compose_choice(random, goods), *city = compose_city(random);
    members_text(entity, "company", compose_text(arena, "%s of %s", good, city));
    struct members at = address(random, arena);
    members_object(entity, "address", &at);
    members_text(entity, "phone", phone(random, arena));
    members_text(entity, "page", compose_text(arena, "https://%s.example.org", city));
}

static void category(struct random *random, struct arena *arena, struct members *entity)
{
    struct topic topic = topic_draw(random);
    members_text(entity, "name", compose_heading(random, &topic, 2, arena));
    members_text(entity, "description",
                 compose_prose(random, &topic, (size_t)draw(random, 30, 90), arena));
}

static void territory(struct random *random, struct arena *arena, struct members *entity)
{
    (void)arena;
    members_text(entity, "name", slice_text(compose_city(random)));
    members_text(entity, "country", slice_text(compose_country(random)));
    members_integer(entity, "employee", draw(random, 1, 40));
}

/* Shares of a hundred: what such a company has many and few of. */
static const struct entity_type {
    const char *name;
    unsigned share;
    void (*make)(struct random *random, struct arena *arena, struct members *entity);
} types[] = {
    {"line", 50, order_line},  {"order", 24, order},        {"customer", 12, customer},
    {"product", 6, product},   {"territory", 3, territory}, {"employee", 2, employee},
    {"supplier", 2, supplier}, {"category", 1, category},
};

static int entity_read(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct tare_error *error)
{
    (void)error;
    struct random random = random_at(dataset->seed, index, 0);
    unsigned share = (unsigned)random_below(&random, 100);
    const struct entity_type *type = types;
    for (; share >= type->share; type++)
        share -= type->share;
    struct members entity = members_of(arena, 8);
    members_text(&entity, "type", slice_text(type->name));
    type->make(&random, arena, &entity);
    struct slice number = numbered_text(":", index, arena);
    *record = (struct record){
        .key = compose_text(arena, "%s%.*s", type->name, (int)number.length, number.bytes),
        .fields = entity.items,
        .field_count = entity.count};
    return 0;
}

static char *entity_describe(const struct dataset *dataset)
{
    (void)dataset;
    return memory_format("%zu types", sizeof types / sizeof types[0]);
}

const struct dataset_kind dataset_entity = {
    .name = "entity",
    .summary = "small entities of a trading company, of 8 types; 5,163 where no number is given",
    .example = "entity",
    .options = entity_options,
    .state_size = sizeof(struct entity),
    .defaults = entity_defaults,
    .open = entity_open,
    .read = entity_read,
    .describe = entity_describe,
};
