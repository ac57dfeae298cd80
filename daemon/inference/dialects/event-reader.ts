import { GatewayError } from '../../contract/errors.ts';
import { BadResponseError } from '../../upstreams/query-upstream.ts';

/** Maximum length of an event, in characters. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/** One block of an event stream; a comment has no data. */
export type StreamBlock = { readonly data: string } | { readonly comment: true };

/** Parses an event stream from arbitrary chunks (WHATWG HTML 9.2.6; lines end in LF or CRLF). */
export class EventReader {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  /** Size of `#data` including line ends: empty lines use memory too. */
  #size = 0;

  /** Returns the blocks that `chunk` completes. Throws `upstream.error` for an event above the limit. */
  push(chunk: Uint8Array): StreamBlock[] {
    return this.#parse(this.#decoder.decode(chunk, { stream: true }));
  }

  /** Returns the blocks of a response without a final line end. */
  end(): StreamBlock[] {
    return this.#parse(`${this.#decoder.decode()}\n\n`);
  }

  #parse(text: string): StreamBlock[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const blocks = lines.flatMap((line) => this.#line(line.endsWith('\r') ? line.slice(0, -1) : line));
    if (this.#size + this.#rest.length > MAX_EVENT_LENGTH) {
      throw new GatewayError('upstream.error', {
        message: 'An event of the engine is too long.',
        cause: new BadResponseError('It sent an event that is too long.'),
      });
    }
    return blocks;
  }

  #line(line: string): StreamBlock[] {
    if (line.startsWith(':')) return [{ comment: true }];
    if (line === 'data') this.#add('');
    if (line.startsWith('data:')) this.#add(line.slice(line[5] === ' ' ? 6 : 5));
    if (line !== '' || this.#data.length === 0) return [];
    const data = this.#data.join('\n');
    this.#data = [];
    this.#size = 0;
    return [{ data }];
  }

  #add(line: string): void {
    this.#data.push(line);
    this.#size += line.length + 1;
  }
}
