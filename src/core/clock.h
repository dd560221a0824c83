/* Clocks, in seconds. */
#ifndef TARE_CORE_CLOCK_H
#define TARE_CORE_CLOCK_H

#include <stdint.h>

double clock_seconds(void);       /* since some time; never goes back */
int64_t clock_nanoseconds(void);  /* the same */
double clock_own_cpu(void);       /* processor time of this process so far */
void clock_pause(double seconds); /* a signal ends it early: the callers look */
/* Waits until clock_nanoseconds() is there; a signal doesn't end it. */
void clock_wait_until(int64_t nanoseconds);

#endif
