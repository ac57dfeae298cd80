import type { ServerResponse } from 'node:http';
import { SSE } from './forwarding.ts';

const PIECE = Buffer.alloc(65_536, 0x61);
const END = '\n\ndata: [DONE]\n\n';
const LAST = Buffer.concat([PIECE.subarray(END.length), Buffer.from(END)]);

/** An engine that streams a number of bytes in one endless line, as fast as they are read. */
export class StreamingEngine {
  readonly #total: number;
  sent = 0;

  constructor(total: number) {
    this.#total = total;
  }

  answer(res: ServerResponse): void {
    res.writeHead(200, SSE);
    const more = () => {
      while (this.sent < this.#total) {
        this.sent += PIECE.length;
        if (!res.write(this.sent < this.#total ? PIECE : LAST)) return;
      }
      res.end();
    };
    res.on('drain', more);
    more();
  }

  /** Whether it has started and is blocked; call repeatedly. */
  readonly waits = (() => {
    let before = -1;
    return () => {
      const isPaused = this.sent === before;
      before = this.sent;
      return isPaused && this.sent > 0;
    };
  })();
}
