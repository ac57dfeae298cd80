/* One connection of the mock and how its bytes become a request (HTTP/1.1, length or chunked, no pipelining).
 */
#define W 4096
enum { HEAD, BODY, CSIZE, CDATA, CEND, CTRAIL, OUT, SSE };
typedef struct conn {
  int fd, st, isget, idx, eof;
  long left, total; /* body bytes left; body bytes received */
  char head[16384];
  int hl;
  char first[W + 1];
  int fl;
  char last[W + 1];
  int ll;
  char line[64];
  int lnl;
  const char *out;
  long ol;
  char tok[768];
  int ntok, want;
  long delay;
  long due;
  int blocked, fin;
} conn;

static int answer(conn *c); /* 0 running or done, -1 closed */

static void seen(conn *c, const char *p, long n) {
  c->total += n;
  if (c->fl < W) {
    long k = n < W - c->fl ? n : W - c->fl;
    memcpy(c->first + c->fl, p, k);
    c->fl += k;
  }
  if (n >= W) {
    memcpy(c->last, p + n - W, W);
    c->ll = W;
  } else {
    if (c->ll + n > W) {
      long cut = c->ll + n - W;
      memmove(c->last, c->last + cut, c->ll - cut);
      c->ll -= cut;
    }
    memcpy(c->last + c->ll, p, n);
    c->ll += n;
  }
}
static int feed(conn *c, char *p, long n) {
  while (n > 0) {
    if (c->st == HEAD) {
      int from = c->hl > 3 ? c->hl - 3 : 0;
      long k = n < (long)sizeof c->head - 1 - c->hl ? n : (long)sizeof c->head - 1 - c->hl;
      if (!k) return -1;
      memcpy(c->head + c->hl, p, k);
      c->head[c->hl + k] = 0;
      char *e = memmem(c->head + from, c->hl + k - from, "\r\n\r\n", 4);
      if (!e) {
        c->hl += k;
        p += k;
        n -= k;
        continue;
      }
      long used = e + 4 - (c->head + c->hl);
      *e = 0;
      c->hl = e - c->head;
      p += used;
      n -= used;
      c->isget = c->head[0] == 'G';
      char *h = strcasestr(c->head, "\r\ncontent-length:");
      if (h) {
        c->left = atol(h + 17);
        c->st = BODY;
      } else if (strcasestr(c->head, "\r\ntransfer-encoding:")) {
        c->st = CSIZE;
        c->lnl = 0;
      } else c->left = 0, c->st = BODY;
      if (strcasestr(c->head, "\r\nexpect: 100-continue")) {
        if (write(c->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25) < 0) return -1;
      }
      if (c->st == BODY && !c->left) {
        int f = answer(c);
        if (f < 0) return -1;
      }
    } else if (c->st == BODY || c->st == CDATA) {
      long k = n < c->left ? n : c->left;
      seen(c, p, k);
      p += k;
      n -= k;
      c->left -= k;
      if (!c->left) {
        if (c->st == CDATA) {
          c->st = CEND;
          c->left = 2;
        } else {
          int f = answer(c);
          if (f < 0) return -1;
        }
      }
    } else if (c->st == CEND) {
      p++;
      n--;
      if (!--c->left) {
        c->st = CSIZE;
        c->lnl = 0;
      }
    } else if (c->st == CSIZE || c->st == CTRAIL) {
      char ch = *p++;
      n--;
      if (ch != '\n') {
        if (c->lnl < 60 && ch != '\r') c->line[c->lnl++] = ch;
        continue;
      }
      c->line[c->lnl] = 0;
      if (c->st == CTRAIL) {
        if (!c->lnl) {
          int f = answer(c);
          if (f < 0) return -1;
        }
        c->lnl = 0;
        continue;
      }
      c->left = strtol(c->line, 0, 16);
      c->lnl = 0;
      c->st = c->left ? CDATA : CTRAIL;
    } else return 0; /* bytes during an answer: pipelining is not supported */
  }
  return 0;
}
