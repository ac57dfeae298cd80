import { dispositionOf, MultipartScanner } from '../../../daemon/lib/net/multipart.ts';
import { assertProperty, assertSame, chunked } from '../assert.ts';

interface Part {
  name: string | null;
  filename: string | null;
  bytes: string;
  whole: boolean;
}

function read(chunks: readonly Buffer[]): Part[] {
  const parts: Part[] = [];
  const scanner = new MultipartScanner('xyz', {
    part: (head) => void parts.push({ ...dispositionOf(head), bytes: '', whole: false }),
    data(bytes) {
      assertProperty(bytes.length > 0, 'data without bytes');
      (parts.at(-1) as Part).bytes += bytes.toString('latin1');
    },
    end() {
      (parts.at(-1) as Part).whole = true;
    },
  });
  for (const chunk of chunks) scanner.push(chunk);
  return parts;
}

/** The same bytes give the same parts, however they are split. A whole part equals the bytes that were sent. */
export function fuzz(data: Buffer): void {
  const { whole, chunks } = chunked(data);
  const parts = read([whole]);
  // For an incomplete part, the bytes that cannot be a delimiter are reported, which depends on the chunks.
  const settled = (all: Part[]) => all.map((part) => (part.whole ? part : { ...part, bytes: '' }));
  assertSame(settled(read(chunks)), settled(parts), 'a form and the same one in pieces');
  assertProperty(parts.length <= 64, 'more parts than the limit');
  const text = whole.toString('latin1');
  for (const { bytes, whole: complete } of parts) {
    assertProperty(
      !complete || text.includes(`\r\n\r\n${bytes}\r\n--xyz`) || bytes === '',
      'bytes that were not sent',
    );
    assertProperty(!bytes.includes('\r\n--xyz'), 'a delimiter inside a part');
  }
}
