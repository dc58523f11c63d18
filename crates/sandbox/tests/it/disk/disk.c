/* A disk that a test controls, for a program that is started with this library before all others (LD_PRELOAD).
 *
 * HORTATOR_DISK names a folder: the file `control` there has the numbers of `struct control`, and the files below the
 * folder HORTATOR_DISK_OF are on this disk. What has been written to a file since its last sync is kept as an undo
 * journal in HORTATOR_DISK, one file for each inode, so that the test can take it back after it has killed the program:
 * a power loss. Names, sizes and removals count as durable at once; so do writes through a mapping, from inside the C
 * library (fwrite), and by the kernel for the program: those of InnoDB to its tables (libaio, io_uring), which it makes when
 * its redo log is synced. disk.rs reads these files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
    uint64_t sync_delay_us; /* each sync takes that much longer */
    uint64_t is_full;       /* files cannot grow */
    uint64_t stalls_log;    /* syncs of the provider's log wait */
};

/* The head of an undo journal. */
struct head {
    uint64_t inode;
    uint64_t born_ns;
    uint64_t durable_bytes; /* entries that end before this place in the journal are durable */
};

/* An entry, before the old bytes that the write replaces: less than its length if it grows the file. */
struct entry {
    uint64_t offset;
    uint64_t written_bytes;
    uint64_t old_bytes;
    uint64_t old_size;
    uint64_t written_s; /* the time */
};

struct file {
    uint64_t inode, born_ns;
    int is_known, journal; /* -1: not on this disk */
    uint64_t end, durable; /* places in the journal */
    uint64_t began;        /* another number each time that the journal begins anew */
};

enum { FILES = 1 << 16, CHUNK = 1 << 20 };
static struct file files[FILES];
static uint64_t beginnings;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile struct control *control;
static const char *folder, *disk_of;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static int (*real_fsync)(int), (*real_fdatasync)(int), (*real_syncfs)(int);
static int (*real_fallocate)(int, int, off_t, off_t);
static int (*real_posix_fallocate)(int, off_t, off_t);
static int (*real_ftruncate)(int, off_t);

static void fail(const char *what) {
    dprintf(2, "disk.c: %s: %s\n", what, strerror(errno));
    abort();
}

static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) fail(name);
    return found;
}

__attribute__((constructor)) static void start(void) {
    real_write = real("write");
    real_pwrite = real("pwrite");
    real_writev = real("writev");
    real_fsync = real("fsync");
    real_fdatasync = real("fdatasync");
    real_syncfs = real("syncfs");
    real_fallocate = real("fallocate");
    real_posix_fallocate = real("posix_fallocate");
    real_ftruncate = real("ftruncate");
    const char *of = getenv("HORTATOR_DISK_OF");
    folder = getenv("HORTATOR_DISK");
    if (!folder || !of) return;
    char path[4096];
    snprintf(path, sizeof path, "%s/control", folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    void *mapped = mmap(NULL, sizeof *control, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED) fail(path);
    close(file);
    control = mapped;
    /* Its children may start elsewhere. */
    disk_of = realpath(of, NULL);
    if (!disk_of || setenv("HORTATOR_DISK_OF", disk_of, 1)) fail(of);
}

/* The path of an open file; empty if it has none. */
static const char *path_of(int file, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    path[length < 0 ? 0 : length] = 0;
    return path;
}

static void set(int journal, const void *bytes, size_t length, off_t offset) {
    if (real_pwrite(journal, bytes, length, offset) != (ssize_t)length) fail("the undo journal");
}

static int open_journal(uint64_t inode, uint64_t born_ns, uint64_t *end) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%lu", folder, (unsigned long)inode);
    int journal = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (journal < 0) fail(path);
    struct head head;
    *end = lseek(journal, 0, SEEK_END);
    /* Another file may have had this inode before, and a program may have been killed before it had set the head anew. */
    int is_same = pread(journal, &head, sizeof head, 0) == (ssize_t)sizeof head && head.born_ns == born_ns;
    if (!is_same || head.durable_bytes > *end) {
        head = (struct head){inode, born_ns, sizeof head};
        if (real_ftruncate(journal, is_same ? *end : 0)) fail(path);
        set(journal, &head, sizeof head, 0);
        *end = is_same ? *end : sizeof head;
    }
    return journal;
}

/* Called with the lock: the file, if it is on this disk. */
static struct file *find(int file) {
    if (!disk_of) return NULL;
    struct statx about;
    if (statx(file, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME | STATX_TYPE, &about) || !S_ISREG(about.stx_mode)) return NULL;
    uint64_t born_ns = about.stx_btime.tv_sec * 1000000000ull + about.stx_btime.tv_nsec;
    uint64_t place = (about.stx_ino * 0x9e3779b97f4a7c15ull) >> 48;
    for (int looked = 0; looked < FILES; looked++, place = (place + 1) % FILES) {
        struct file *one = &files[place];
        if (one->is_known && (one->inode != about.stx_ino || one->born_ns != born_ns)) continue;
        if (!one->is_known) {
            char path[4096];
            size_t length = strlen(disk_of);
            const char *of = path_of(file, path, sizeof path);
            int is_on = !strncmp(of, disk_of, length) && of[length] == '/';
            *one = (struct file){about.stx_ino, born_ns, 1, -1, 0, 0, ++beginnings};
            if (is_on) one->journal = open_journal(about.stx_ino, born_ns, &one->end);
        }
        return one->journal < 0 ? NULL : one;
    }
    errno = ENFILE;
    fail("files");
    return NULL;
}

/* Keeps what a write replaces. False if the disk is full. */
static int before_write(int descriptor, off_t offset, size_t bytes) {
    if (!disk_of || !bytes) return 1;
    int saved = errno, can = 1;
    pthread_mutex_lock(&lock);
    struct file *file = find(descriptor);
    if (file) {
        struct stat about;
        if (fstat(descriptor, &about)) fail("fstat");
        /* Only now, with the lock: the place of a write() is known. */
        if (offset < 0) offset = fcntl(descriptor, F_GETFL) & O_APPEND ? about.st_size : lseek(descriptor, 0, SEEK_CUR);
        uint64_t size = about.st_size, end = offset + bytes;
        if (control->is_full && end > size) {
            can = 0;
        } else {
            uint64_t old = (uint64_t)offset >= size ? 0 : (end > size ? size - offset : bytes);
            char *text = malloc(sizeof(struct entry) + old);
            if (!text) fail("malloc");
            struct entry entry = {offset, bytes, old, size, time(NULL)};
            memcpy(text, &entry, sizeof entry);
            /* Not by this descriptor: it may not be readable, or only in whole blocks. */
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
            int reader = old ? open(link, O_RDONLY | O_CLOEXEC) : -1;
            if (old && reader < 0) fail(link);
            for (uint64_t done = 0; done < old;) {
                ssize_t got = pread(reader, text + sizeof entry + done, old - done, offset + done);
                if (got <= 0) fail("pread");
                done += got;
            }
            if (reader >= 0) close(reader);
            ssize_t length = sizeof entry + old;
            set(file->journal, text, length, file->end);
            file->end += length;
            free(text);
        }
    }
    pthread_mutex_unlock(&lock);
    errno = can ? saved : ENOSPC;
    return can;
}

static int synced(int descriptor, int (*sync)(int)) {
    if (!disk_of) return sync(descriptor);
    pthread_mutex_lock(&lock);
    struct file *file = find(descriptor);
    uint64_t end = file ? file->end : 0, began = file ? file->began : 0;
    pthread_mutex_unlock(&lock);
    char path[4096];
    while (file && control->stalls_log && strstr(path_of(descriptor, path, sizeof path), "/hortator-0")) usleep(10000);
    if (file && control->sync_delay_us) usleep(control->sync_delay_us);
    int result = sync(descriptor);
    if (!file || result) return result;
    pthread_mutex_lock(&lock);
    /* What has been written during the sync may not be part of it. Another sync may have emptied the journal. */
    file = find(descriptor);
    int is_news = file && began == file->began;
    if (is_news && end == file->end) {
        end = file->end = sizeof(struct head);
        if (real_ftruncate(file->journal, end)) fail("the undo journal");
        file->durable = 0;
        file->began = ++beginnings;
    }
    if (is_news && end > file->durable) {
        file->durable = end;
        set(file->journal, &end, sizeof end, offsetof(struct head, durable_bytes));
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* False if a full disk cannot hold the file at this size. */
static int can_hold(int descriptor, off_t size) {
    if (!disk_of || !control->is_full) return 1;
    pthread_mutex_lock(&lock);
    struct stat about;
    int can = !find(descriptor) || fstat(descriptor, &about) || size <= about.st_size;
    pthread_mutex_unlock(&lock);
    return can;
}

/* All files on this disk. Other programs do not write at this time. */
int syncfs(int descriptor) {
    int result = real_syncfs(descriptor);
    if (result || !disk_of) return result;
    pthread_mutex_lock(&lock);
    DIR *journals = opendir(folder);
    if (!journals) fail(folder);
    for (struct dirent *entry; (entry = readdir(journals));) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && unlinkat(dirfd(journals), entry->d_name, 0)) fail("unlink");
    }
    closedir(journals);
    for (int place = 0; place < FILES; place++) {
        if (files[place].is_known && files[place].journal >= 0) close(files[place].journal);
        files[place].is_known = 0;
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int fsync(int file) { return synced(file, real_fsync); }
int fdatasync(int file) { return synced(file, real_fdatasync); }

ssize_t write(int file, const void *bytes, size_t length) {
    return before_write(file, -1, length) ? real_write(file, bytes, length) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) {
    return before_write(file, offset, length) ? real_pwrite(file, bytes, length, offset) : -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t offset) { return pwrite(file, bytes, length, offset); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    size_t length = 0;
    for (int part = 0; part < count; part++) length += parts[part].iov_len;
    return before_write(file, -1, length) ? real_writev(file, parts, count) : -1;
}

int fallocate(int file, int mode, off_t offset, off_t length) {
    if (!can_hold(file, offset + length)) { errno = ENOSPC; return -1; }
    return real_fallocate(file, mode, offset, length);
}

int fallocate64(int file, int mode, off_t offset, off_t length) { return fallocate(file, mode, offset, length); }

int posix_fallocate(int file, off_t offset, off_t length) {
    return can_hold(file, offset + length) ? real_posix_fallocate(file, offset, length) : ENOSPC;
}

int posix_fallocate64(int file, off_t offset, off_t length) { return posix_fallocate(file, offset, length); }

int ftruncate(int file, off_t size) {
    if (!can_hold(file, size)) { errno = ENOSPC; return -1; }
    return real_ftruncate(file, size);
}

int ftruncate64(int file, off_t size) { return ftruncate(file, size); }
