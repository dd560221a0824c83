#include "core/clock.h"

#include <errno.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SECOND + now.tv_nsec;
}

int64_t clock_nanoseconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double clock_seconds(void)
{
    return (double)clock_nanoseconds() / 1e9;
}

double clock_own_cpu(void)
{
    return (double)read_clock(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

void clock_pause(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&wait, NULL);
}

void clock_wait_until(int64_t nanoseconds)
{
    struct timespec until = {.tv_sec = (time_t)(nanoseconds / SECOND),
                             .tv_nsec = (long)(nanoseconds % SECOND)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}
