/* tcmalloc as MongoDB 3.6 to 6.0 carries it (gperftools, src/third_party/gperftools, pages of 4
 * KiB): size classes up to 16 KiB, as serverStatus({tcmalloc: 2}) lists them; whole pages above
 * (common.cc, SizeMap::Init). current_allocated_bytes counts the class. */
#include <string.h>

#include "model/tcmalloc.h"

/* Class and pages of a span of it, as serverStatus({tcmalloc: 2}).tcmalloc.size_classes of 6.0.5
 * shows them; 4.4.2 and 5.0.4 show the same. */
static const struct {
    int16_t size, pages;
} classes[] = {
    {8, 2},     {16, 2},    {32, 2},    {48, 2},    {64, 2},   {80, 2},   {96, 2},    {128, 2},
    {160, 2},   {192, 2},   {224, 2},   {256, 2},   {320, 2},  {384, 2},  {448, 2},   {512, 2},
    {576, 2},   {640, 2},   {704, 2},   {768, 2},   {896, 2},  {1024, 2}, {1152, 2},  {1280, 2},
    {1408, 3},  {1536, 2},  {1664, 3},  {2048, 2},  {2304, 3}, {2560, 2}, {3072, 3},  {3328, 5},
    {4096, 2},  {4608, 5},  {5120, 4},  {6144, 3},  {6656, 5}, {8192, 2}, {10240, 5}, {12288, 3},
    {13312, 7}, {14336, 4}, {15360, 4}, {16384, 4},
};

#define CLASS_COUNT (sizeof classes / sizeof classes[0])

static bool fits(const struct build *build)
{
    return strncmp(build->allocator, "tcmalloc", 8) == 0;
}

static int64_t usable(const struct build *build, int64_t requested)
{
    (void)build;
    size_t low = 0, high = CLASS_COUNT;
    if (requested > TCMALLOC_SMALL_MOST)
        return (requested + TCMALLOC_PAGE - 1) / TCMALLOC_PAGE * TCMALLOC_PAGE;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (classes[middle].size < requested)
            low = middle + 1;
        else
            high = middle;
    }
    return classes[low].size;
}

int64_t tcmalloc_span(int64_t size)
{
    for (size_t i = 0; i < CLASS_COUNT; i++)
        if (classes[i].size == size)
            return (int64_t)classes[i].pages * TCMALLOC_PAGE;
    return 0;
}

const struct allocator_kind allocator_tcmalloc = {
    .name = "tcmalloc",
    .explanation = "size classes of MongoDB's tcmalloc (gperftools, 3.6 to 6.0)",
    .fits = fits,
    .usable = usable,
};
