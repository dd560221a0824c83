/* The memory store: trees read as they were written; the model's blocks beside
 * those of the process that holds the records, which is this program again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>

#include "core/memory.h"
#include "encoders/msgpack_value.h"
#include "model/model.h"
#include "model/tree.h"
#include "stores/memory_hold.h"
#include "stores/store.h"

/* ---- trees --------------------------------------------------------------------------------- */

static struct member integer(int64_t number)
{
    return (struct member){slice_text("i"), {.type = VALUE_INTEGER, .as.integer = number}};
}

static struct member text_of(enum value_type type, const char *bytes, size_t length)
{
    return (struct member){slice_text("t"), {.type = type, .as.text = slice_of(bytes, length)}};
}

static struct tree_node next(struct tree_reader *reader)
{
    struct tree_node node;
    assert_true(tree_next(reader, &node));
    return node;
}

static void write_members(struct buffer *out, const struct member *members, size_t count,
                          bool named)
{
    struct counted counted = {0};
    struct tare_error error;
    assert_int_equal(
        tree_put_members(&msgpack_format, out, members, count, named, 1, &counted, &error), 0);
}

static void integers_of_every_width_are_read(void **state)
{
    static const int64_t numbers[] = {0,
                                      1,
                                      127,
                                      128,
                                      255,
                                      256,
                                      32767,
                                      32768,
                                      65535,
                                      65536,
                                      -1,
                                      -32,
                                      -33,
                                      -128,
                                      -129,
                                      -32768,
                                      -32769,
                                      INT32_MAX,
                                      UINT32_MAX,
                                      INT32_MIN,
                                      (int64_t)INT32_MIN - 1,
                                      (int64_t)UINT32_MAX + 1,
                                      INT64_MAX,
                                      INT64_MIN};
    struct buffer out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct member member = integer(numbers[i]);
        buffer_clear(&out);
        write_members(&out, &member, 1, true);
        struct tree_reader reader = tree_read(buffer_slice(&out));
        struct tree_node node = next(&reader);
        assert_int_equal(node.type, TREE_OBJECT);
        assert_int_equal(node.count, 1);
        node = next(&reader);
        assert_true(slice_is(node.text, "i"));
        node = next(&reader);
        assert_int_equal(node.type, TREE_INTEGER);
        assert_true(node.integer == numbers[i]);
        assert_false(tree_next(&reader, &node));
    }
    buffer_free(&out);
}

static void texts_and_containers_of_every_width_are_read(void **state)
{
    static const size_t lengths[] = {0, 15, 16, 31, 32, 255, 256, 65535, 65536};
    char *bytes = memory_new(65536);
    struct buffer out = {0};
    (void)state;
    memset(bytes, 'x', 65536);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct member members[] = {text_of(VALUE_TEXT, bytes, lengths[i]),
                                   text_of(VALUE_BYTES, bytes, lengths[i])};
        buffer_clear(&out);
        write_members(&out, members, 2, false);
        struct tree_reader reader = tree_read(buffer_slice(&out));
        assert_int_equal(next(&reader).type, TREE_ARRAY);
        for (int j = 0; j < 2; j++) {
            struct tree_node node = next(&reader);
            assert_int_equal(node.type, TREE_TEXT);
            assert_int_equal(node.text.length, lengths[i]);
        }
        assert_ptr_equal(reader.at, reader.end);

        struct member *many = memory_new((lengths[i] + 1) * sizeof *many);
        for (size_t j = 0; j < lengths[i]; j++)
            many[j] = integer((int64_t)j);
        buffer_clear(&out);
        write_members(&out, many, lengths[i], true);
        reader = tree_read(buffer_slice(&out));
        assert_int_equal(next(&reader).count, lengths[i]);
        for (size_t j = 0; j < lengths[i]; j++) {
            assert_int_equal(next(&reader).type, TREE_TEXT);
            assert_int_equal(next(&reader).integer, (int64_t)j);
        }
        assert_ptr_equal(reader.at, reader.end);
        free(many);
    }
    free(bytes);
    buffer_free(&out);
}

static void reals_and_constants_are_read(void **state)
{
    const struct member members[] = {{slice_of("", 0), {.type = VALUE_DOUBLE, .as.real = -0.1}},
                                     {slice_of("", 0), {.type = VALUE_NULL}},
                                     {slice_of("", 0), {.type = VALUE_BOOLEAN, .as.boolean = true}},
                                     {slice_of("", 0), {.type = VALUE_BOOLEAN}}};
    struct buffer out = {0};
    (void)state;
    write_members(&out, members, 4, false);
    struct tree_reader reader = tree_read(buffer_slice(&out));
    assert_int_equal(next(&reader).count, 4);
    struct tree_node node = next(&reader);
    assert_int_equal(node.type, TREE_REAL);
    assert_true(node.real == -0.1);
    assert_int_equal(next(&reader).type, TREE_NULL);
    assert_int_equal(next(&reader).type, TREE_TRUE);
    assert_int_equal(next(&reader).type, TREE_FALSE);
    /* Cut at each place, a node is missing, and none is made up. */
    for (size_t length = 0; length < out.length; length++) {
        size_t nodes = 0;
        reader = tree_read(slice_of(out.data, length));
        while (tree_next(&reader, &node))
            nodes++;
        assert_true(nodes < 5);
    }
    reader = tree_read(slice_of("\xca\x3f\x00\x00\x00", 5)); /* a float of 32 bits: 0.5 */
    assert_true(next(&reader).real == 0.5);
    reader = tree_read(slice_of("\xd4\x01\x00", 3)); /* an extension */
    assert_false(tree_next(&reader, &node));
    buffer_free(&out);
}

/* ---- the process --------------------------------------------------------------------------- */

static struct store *open_store(void)
{
    struct server_spec spec;
    const struct store_limits limits = {0};
    const struct figures none = {0};
    struct tare_error error = {0};
    assert_int_equal(server_spec_default(store_kind_of_name("memory"), NULL, &spec, &error), 0);
    struct store *store = spec.kind->open(&spec, &none, &limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    server_spec_free(&spec);
    return store;
}

static void read_figures(struct store *store, struct figures *figures)
{
    struct tare_error error;
    assert_int_equal(store->kind->ask(store, "figures", "", figures, &error), 0);
}

static void put(struct store *store, struct slice key, struct slice body)
{
    struct tare_error error;
    struct object object = {.type = OBJECT_STRING, .key = key, .body = body};
    assert_int_equal(store->kind->put(store, &object, &error), 0);
}

static int64_t read_all(struct store *store)
{
    struct tare_error error;
    int64_t count = -1;
    assert_int_equal(store->kind->flush(store, &error), 0);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    return count;
}

static void keys_and_values_of_any_bytes_are_held(void **state)
{
    size_t large = 3 << 20;
    char *bytes = memory_new(large);
    struct store *store = open_store();
    (void)state;
    put(store, slice_of("", 0), slice_of("", 0));
    put(store, slice_of("a\0b", 3), slice_of("\0\xff", 2));
    put(store, slice_of("a\0c", 3), slice_of(bytes, large));
    assert_int_equal(read_all(store), 3);
    put(store, slice_of("a\0b", 3), slice_of("another value", 13));
    assert_int_equal(read_all(store), 3);
    struct figures figures = {0};
    read_figures(store, &figures);
    assert_int_equal(figures_get(&figures, "memory.keys"), 3);
    assert_true(figures_get(&figures, "memory.usable") > (int64_t)large);
    figures_free(&figures);
    free(bytes);
    store->kind->close(store);
}

static void a_process_that_dies_is_an_error(void **state)
{
    struct store *store = open_store();
    struct tare_error error = {0};
    (void)state;
    put(store, slice_text("key"), slice_text("value"));
    kill(store->pid, SIGKILL);
    assert_int_equal(store->kind->flush(store, &error), -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_non_null(strstr(error.message, "is gone"));
    store->kind->close(store);

    store = open_store();
    struct object broken = {.type = OBJECT_TREE,
                            .key = slice_text("key"),
                            .body = slice_of("\x92\x01", 2)}; /* of two elements one */
    assert_int_equal(store->kind->put(store, &broken, &error), 0);
    assert_int_equal(store->kind->flush(store, &error), -1);
    assert_non_null(strstr(error.message, "malformed"));
    store->kind->close(store);
}

/* A record as a tree: a text, a number, an array of both. */
static struct object tree_object(struct buffer *out, const char *text, int64_t number)
{
    struct member array[] = {text_of(VALUE_TEXT, text, strlen(text)), integer(number)};
    struct member members[] = {text_of(VALUE_TEXT, text, strlen(text)),
                               integer(number),
                               {slice_text("a"), {.type = VALUE_ARRAY, .as.children = {array, 2}}}};
    buffer_clear(out);
    write_members(out, members, 3, true);
    return (struct object){
        .type = OBJECT_TREE, .key = slice_text("tree"), .body = buffer_slice(out)};
}

/* Operations in flight on one client; what each found. */
static void operate(struct store_client *client, enum operation operation,
                    const struct object *object)
{
    struct tare_error error = {0};
    const struct store_kind *kind = client->store->kind;
    if (kind->client_add(client, operation, object, object, 1, &error) ||
        kind->client_send(client, &error))
        fail_msg("%s", error.message);
}

static bool found(struct store_client *client)
{
    struct tare_error error = {0};
    bool found = false;
    if (client->store->kind->client_take(client, &found, &error))
        fail_msg("%s", error.message);
    return found;
}

static void clients_read_and_change_records(void **state)
{
    struct store *store = open_store();
    const struct store_kind *kind = store->kind;
    struct tare_error error = {0};
    struct buffer out = {0};
    struct figures before = {0}, after = {0};
    struct store_client *a = kind->client_open(store, &error),
                        *b = kind->client_open(store, &error);
    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    struct object text = {
        .type = OBJECT_STRING, .key = slice_text("text"), .body = slice_text("one")};
    struct object tree = tree_object(&out, "first", 1);
    assert_int_equal(kind->put(store, &text, &error), 0);
    assert_int_equal(kind->put(store, &tree, &error), 0);
    assert_int_equal(kind->flush(store, &error), 0);
    read_figures(store, &before);

    text.body = slice_text("two");
    operate(a, OPERATION_UPDATE, &text);
    operate(a, OPERATION_READ, &text);
    text.key = slice_text("none");
    operate(a, OPERATION_MISS, &text);
    operate(a, OPERATION_UPDATE, &text);
    tree = tree_object(&out, "other", -7);
    operate(b, OPERATION_UPDATE, &tree);
    operate(b, OPERATION_READ, &tree);
    static const bool expected[] = {true, true, false, false};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(found(a), expected[i]);
    assert_true(found(b) && found(b));
    /* Lengths are the same, and so are the blocks: nothing was left behind. */
    read_figures(store, &after);
    assert_int_equal(figures_growth(&before, &after, "memory.blocks"), 0);
    assert_int_equal(figures_growth(&before, &after, "memory.usable"), 0);
    kind->client_close(a);

    text.body = slice_text("three");
    operate(b, OPERATION_INSERT, &text);
    operate(b, OPERATION_READ, &text);
    assert_true(found(b) && found(b));
    assert_int_equal(read_all(store), 3);
    /* Another tree than the one that is there is no change of it. */
    struct object flat = {
        .type = OBJECT_TREE, .key = slice_text("tree"), .body = slice_of("\x80", 1)};
    bool there;
    operate(b, OPERATION_UPDATE, &flat);
    assert_int_equal(kind->client_take(b, &there, &error), -1);
    assert_int_equal(error.status, TARE_STORE);
    kind->client_close(b);
    kind->close(store);
    figures_free(&before);
    figures_free(&after);
    buffer_free(&out);
}

/* ---- the model beside the process ---------------------------------------------------------- */

struct both {
    struct store *store;
    struct model *model;
    struct counted counted;
};

static int put_both(void *context, const struct object *object, struct tare_error *error)
{
    struct both *both = context;
    counted_add(&both->counted, &object->counted);
    return both->store->kind->put(both->store, object, error) ||
           both->model->kind->add(both->model, object, error);
}

/* What the blocks of a prediction occupy. AddressSanitizer's malloc_usable_size tells the size that
 * was asked for. */
static double occupied(const struct blocks *blocks, double *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < blocks->class_size; i++) {
        const struct block_class *class = &blocks->classes[i];
        if (!class->kind)
            continue;
#ifdef __SANITIZE_ADDRESS__
        sum += class->count * (double)class->requested;
#else
        sum += class->count * (double)class->usable;
#endif
        *count += class->count;
    }
    return sum;
}

static void check_encoding(const char *dataset_text, const char *encoding_text, int64_t records)
{
    struct tare_error error = {0};
    struct both both = {.store = open_store()};
    const struct store_kind *kind = both.store->kind;
    struct dataset *dataset = dataset_open(dataset_text, 1, &error);
    struct encoding *encoding = encoding_parse(encoding_text, &error);
    struct build build;
    const struct figures none = {0};
    struct figures base = {0}, end = {0};
    struct arena arena = {0};
    assert_non_null(dataset);
    assert_non_null(encoding);
    encoding_fit(encoding, dataset);
    assert_int_equal(encoding_learn(encoding, dataset, records, &error), 0);
    assert_int_equal(kind->describe(both.store, &build, &error), 0);
    both.model = model_open(&build, &none, &error);
    assert_non_null(both.model);
    read_figures(both.store, &base);
    int64_t tables = (int64_t)encoding_table_count(encoding);
    assert_int_equal(encoding_tables(encoding, &arena, put_both, &both, &error), 0);
    for (int64_t i = 0; i < records; i++) {
        struct record record = {0};
        arena_reset(&arena);
        if (dataset_read(dataset, i, &arena, &record, &error) ||
            encoding_apply(encoding, &record, &arena, put_both, &both, &error))
            fail_msg("%s", error.message);
    }
    assert_int_equal(read_all(both.store), records + tables);
    read_figures(both.store, &end);

    struct prediction prediction = {0};
    double count;
    int64_t counted = counted_sum(&both.counted);
    assert_int_equal(both.model->kind->predict(both.model, records, records, counted, &none,
                                               &prediction, &error),
                     0);
    double sum = occupied(&prediction.blocks, &count);
    assert_int_equal(figures_growth(&base, &end, "memory.blocks"), llround(count));
    /* malloc hands a free chunk out whole where less than 32 bytes would be left of it. */
    double apart = (double)figures_growth(&base, &end, "memory.usable") - sum;
    assert_true(apart >= 0 && apart <= 16 * 32);
    /* The content of blocks is what the encoder counted, and the accounts are all of the blocks. */
    assert_int_equal(llround(prediction.blocks.content), counted);
    double whole = 0;
    occupied(&prediction.blocks, &count);
    for (size_t i = 0; i < prediction.blocks.class_size; i++)
        if (prediction.blocks.classes[i].kind)
            whole +=
                prediction.blocks.classes[i].count * (double)prediction.blocks.classes[i].usable;
    assert_int_equal(prediction.allocated, llround(whole));

    prediction_free(&prediction);
    model_close(both.model);
    figures_free(&base);
    figures_free(&end);
    arena_free(&arena);
    encoding_free(encoding);
    dataset_close(dataset);
    kind->close(both.store);
}

static void the_model_makes_the_process_s_blocks(void **state)
{
    static const char *const datasets[] = {"player:varied",
                                           "ycsb",
                                           "article",
                                           "entity",
                                           "file:samples/data/orders.bson",
                                           "file:samples/data/stations.json"};
    static const char *const encodings[] = {"memory:json", "memory:objects", "memory:objects+short",
                                            "memory:bytes+msgpack+zstd"};
    (void)state;
    for (size_t i = 0; i < sizeof datasets / sizeof *datasets; i++)
        for (size_t j = 0; j < sizeof encodings / sizeof *encodings; j++)
            check_encoding(datasets[i], encodings[j], 300);
    check_encoding("player", "memory:json", 1);
    check_encoding("player", "memory:json", 8);
    check_encoding("player", "memory:json", 9);
    check_encoding("player", "memory:objects", 20000);
    check_encoding("kv:minlength=0,maxlength=20000", "memory:bytes", 300);
}

static void large_values_are_mapped_apart(void **state)
{
    (void)state;
#ifndef __SANITIZE_ADDRESS__
    check_encoding("kv:minlength=131049,maxlength=200000", "memory:bytes", 100);
#endif
}

int main(int argc, char **argv)
{
    struct tare_error error = {0};
    if (argc == 3 && strcmp(argv[1], "hold") == 0) {
        if (memory_hold(argv[2], &error) == 0)
            return 0;
        fprintf(stderr, "tare: %s\n", error.message);
        return (int)error.status;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_width_are_read),
        cmocka_unit_test(texts_and_containers_of_every_width_are_read),
        cmocka_unit_test(reals_and_constants_are_read),
        cmocka_unit_test(keys_and_values_of_any_bytes_are_held),
        cmocka_unit_test(a_process_that_dies_is_an_error),
        cmocka_unit_test(clients_read_and_change_records),
        cmocka_unit_test(the_model_makes_the_process_s_blocks),
        cmocka_unit_test(large_values_are_mapped_apart),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
