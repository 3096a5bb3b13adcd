/*
 * Shifts the wall clock of a process that preloads this, by an offset in a shared file. Monotonic clocks and timers stay unchanged.
 *
 * A change is written to the next slot first, and then made current by one word. So readers never see half of one, and never
 * wait for a writer.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

struct slot { int64_t offset_ns; int64_t since_ns; double rate; int64_t unused; };
struct page { _Atomic int64_t current; int64_t unused[3]; struct slot slots[127]; };

static struct page *page;

__attribute__((constructor)) static void map_page(void) {
  const char *path = getenv("CRONCE_CLOCK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *page, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) page = mapped;
  close(file);
}

static int64_t read_clock(clockid_t clock) {
  struct timespec now = {0};
  syscall(SYS_clock_gettime, clock, &now);
  return now.tv_sec * SECOND + now.tv_nsec;
}

static int64_t read_wall(clockid_t clock) {
  int64_t now = read_clock(clock);
  if (!page) return now;
  struct slot slot = page->slots[atomic_load_explicit(&page->current, memory_order_acquire)];
  return now + slot.offset_ns + (int64_t)((slot.rate - 1) * (double)(read_clock(CLOCK_MONOTONIC) - slot.since_ns));
}

int clock_gettime(clockid_t clock, struct timespec *to) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, to);
  int64_t now = read_wall(clock);
  *to = (struct timespec){.tv_sec = now / SECOND, .tv_nsec = now % SECOND};
  return 0;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  (void)zone;
  int64_t now = read_wall(CLOCK_REALTIME);
  *to = (struct timeval){.tv_sec = now / SECOND, .tv_usec = now % SECOND / 1000};
  return 0;
}

time_t time(time_t *to) {
  time_t now = (time_t)(read_wall(CLOCK_REALTIME) / SECOND);
  if (to) *to = now;
  return now;
}
