/* A disk that stalls while the file exists that HORTATOR_STALL names, for a program that is started with this library
 * before all others: syncs of the provider's log wait. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_of_the_log(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "/hortator-0") != NULL;
}

int fdatasync(int file) {
    static int (*sync)(int);
    if (!sync) sync = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    const char *stall = getenv("HORTATOR_STALL");
    while (stall && access(stall, F_OK) == 0 && is_of_the_log(file)) usleep(10000);
    return sync(file);
}
