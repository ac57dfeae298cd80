/* Mock model server for the bench: one epoll thread, keep-alive, no allocation per request.
 *   cc -O2 -o mock mock.c && ./mock 9100
 *
 * POST .../chat/completions  JSON response. With "stream":true an SSE stream with one chunk per token: "max_tokens":N tokens
 *                            (default 64), "seed":U microseconds between tokens (0: as fast as the peer reads). Each token
 *                            has "ts":<CLOCK_MONOTONIC ns>.
 * POST .../embeddings        1x1024 floats, or 64x1024 when "input" is an array.
 * POST anything else         {"text":"ok","bytes":N}
 * GET                        {"requests","bytes","streams","aborted"}; aborted: the peer closed before the end of the response.
 *
 * Only the first and last 4 KiB of a body are parsed, so a long body costs only the read. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "mock-conn.h"

static conn **act;
static int nact, cap; /* running streams */
static long requests, bytes, streams, aborted;
static char *emb1, *emb64, *chat;
static long e1l, e64l, chl;
static int ep;
static char rb[1 << 18];
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}
static char *resp(const char *body, long n, long *l) {
  char *r = malloc(n + 256);
  int h = sprintf(r, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %ld\r\n\r\n", n);
  memcpy(r + h, body, n);
  *l = h + n;
  return r;
}
static char *embed(int rows, long *l) {
  char *b = malloc(rows * 1024L * 16 + 4096), *p = b;
  unsigned s = 7;
  p += sprintf(p, "{\"object\":\"list\",\"model\":\"mock\",\"data\":[");
  for (int i = 0; i < rows; i++) {
    p += sprintf(p, "%s{\"object\":\"embedding\",\"index\":%d,\"embedding\":[", i ? "," : "", i);
    for (int j = 0; j < 1024; j++) {
      s = s * 1664525u + 1013904223u;
      p += sprintf(p, "%s%.9f", j ? "," : "", (s / 4294967296.0 - .5) / 10);
    }
    p += sprintf(p, "]}");
  }
  p += sprintf(p, "],\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}}");
  char *r = resp(b, p - b, l);
  free(b);
  return r;
}
static void stop(conn *c) {
  if (c->idx >= 0) {
    act[c->idx] = act[--nact];
    act[c->idx]->idx = c->idx;
    c->idx = -1;
    streams--;
  }
}
static void drop(conn *c) {
  if (c->st == OUT || c->st == SSE) aborted++;
  stop(c);
  close(c->fd);
  free(c);
}
static void again(conn *c) {
  c->st = HEAD;
  c->hl = 0;
  c->fl = c->ll = 0;
  c->total = 0;
  c->lnl = 0;
}
static int flush(conn *c) { /* 1 done, 0 blocked, -1 closed */
  while (c->ol > 0) {
    long n = write(c->fd, c->out, c->ol);
    if (n < 0) {
      if (errno == EAGAIN) {
        c->blocked = 1;
        return 0;
      }
      return -1;
    }
    c->out += n;
    c->ol -= n;
  }
  c->blocked = 0;
  return 1;
}
static int token(conn *c) { /* 1 continue, 0 blocked, 2 finished, -1 closed */
  if (c->fin) {
    again(c);
    stop(c);
    return 2;
  }
  char d[640];
  int n;
  if (c->ntok < c->want)
    n = sprintf(d,
                "data: "
                "{\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
                "\"model\":\"mock\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" "
                "tok%d\"},\"finish_reason\":null}],\"ts\":%ld}\n\n",
                c->ntok, now());
  else {
    n = sprintf(d, "data: [DONE]\n\n");
    c->fin = 1;
  }
  c->ntok++;
  c->ol = sprintf(c->tok, "%x\r\n%.*s\r\n%s", n, n, d, c->fin ? "0\r\n\r\n" : "");
  c->out = c->tok;
  int f = flush(c);
  if (f < 1) return f;
  if (c->fin) {
    again(c);
    stop(c);
    return 2;
  }
  return 1;
}
static long field(conn *c, const char *k, long dflt) {
  char *p = strstr(c->first, k);
  if (!p) p = strstr(c->last, k);
  if (!p) return dflt;
  p += strlen(k);
  while (*p == ' ' || *p == ':') p++;
  return *p == 't' ? 1 : *p == '[' ? 1 : atol(p);
}
static int answer(conn *c) {
  static char small[1024];
  long l;
  c->first[c->fl] = 0;
  c->last[c->ll] = 0;
  c->st = OUT;
  if (c->isget) {
    char b[256];
    int n = sprintf(b, "{\"requests\":%ld,\"bytes\":%ld,\"streams\":%ld,\"aborted\":%ld}", requests, bytes,
                    streams, aborted);
    c->ol = sprintf(
        small, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", n, b);
    c->out = small;
  } else {
    requests++;
    bytes += c->total;
    if (strstr(c->head, "chat/completions") && field(c, "\"stream\"", 0)) {
      c->want = field(c, "\"max_tokens\"", 64);
      c->delay = field(c, "\"seed\"", 0) * 1000;
      c->ntok = c->fin = 0;
      c->st = SSE;
      if (nact == cap) act = realloc(act, (cap = cap * 2 + 64) * sizeof *act);
      c->idx = nact;
      act[nact++] = c;
      streams++;
      c->due = now();
      c->ol = sprintf(c->tok, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: "
                              "no-cache\r\nTransfer-Encoding: chunked\r\n\r\n");
      c->out = c->tok;
      return flush(c);
    }
    if (strstr(c->head, "chat/completions")) c->out = chat, c->ol = chl;
    else if (strstr(c->head, "embeddings")) {
      int big = field(c, "\"input\"", 0) == 1;
      c->out = big ? emb64 : emb1;
      c->ol = big ? e64l : e1l;
    } else {
      char b[96];
      int n = sprintf(b, "{\"text\":\"ok\",\"bytes\":%ld}", c->total);
      l = sprintf(small, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                  n, b);
      c->out = small;
      c->ol = l;
    }
  }
  int f = flush(c);
  if (f == 1) again(c);
  return f;
}
int main(int ac, char **av) {
  signal(SIGPIPE, SIG_IGN);
  int one = 1;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons(ac > 1 ? atoi(av[1]) : 9100),
                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (void *)&a, sizeof a) || listen(listener, 4096)) {
    perror("bind");
    return 1;
  }
  char *m = malloc(2048);
  int n = sprintf(
      m,
      "{\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"mock\","
      "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%0400d\"},\"finish_"
      "reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":64,\"total_tokens\":84}}",
      0);
  chat = resp(m, n, &chl);
  emb1 = embed(1, &e1l);
  emb64 = embed(64, &e64l);
  ep = epoll_create1(0);
  struct epoll_event ev = {.events = EPOLLIN}, es[256];
  ev.data.ptr = &listener;
  epoll_ctl(ep, EPOLL_CTL_ADD, listener, &ev);
  for (;;) {
    long t = now(), next = -1;
    for (int i = 0; i < nact; i++) {
      conn *c = act[i];
      if (c->blocked) continue;
      if (next < 0 || c->due < next) next = c->due;
    }
    int ms = next < 0 ? -1 : next <= t ? 0 : (next - t + 999999) / 1000000;
    int k = epoll_wait(ep, es, 256, ms);
    for (int i = 0; i < k; i++) {
      if (es[i].data.ptr == &listener) {
        int fd;
        while ((fd = accept4(listener, 0, 0, SOCK_NONBLOCK)) >= 0) {
          setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
          conn *c = calloc(1, sizeof *c);
          c->fd = fd;
          c->idx = -1;
          struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
          epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
        }
        continue;
      }
      conn *c = es[i].data.ptr;
      int dead = 0;
      if ((es[i].events & EPOLLOUT) && c->ol > 0) {
        int f = flush(c);
        if (f < 0) dead = 1;
        else if (f == 1 && c->st == OUT) again(c);
      }
      if (!dead && es[i].events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
        for (;;) {
          long r = read(c->fd, rb, sizeof rb);
          if (r > 0) {
            if (feed(c, rb, r)) {
              dead = 1;
              break;
            }
            continue;
          }
          if (r == 0 || errno != EAGAIN) dead = 1;
          break;
        }
      if (dead) drop(c);
    }
    t = now();
    for (int i = 0; i < nact; i++) {
      conn *c = act[i];
      if (c->blocked || c->due > t) continue;
      int f = token(c);
      if (f == 2) {
        i--;
        continue;
      }
      if (f < 0) {
        drop(c);
        i--;
        continue;
      }
      if (f == 1) {
        c->due += c->delay;
        if (c->due < t && c->delay) c->due = t + c->delay;
      }
    }
  }
}
