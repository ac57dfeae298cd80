import { createParser } from 'eventsource-parser';
import { engineEvents } from '../../../daemon/inference/engine-events.ts';
import { StreamRedactor } from '../../../daemon/inference/forward/redact-stream.ts';
import { UsageTap } from '../../../daemon/inference/forward/usage-tap.ts';
import { assertProperty, assertSame, chunked } from '../assert.ts';

const SECRETS = ['sk-1', 'abcab'].map((secret) => Buffer.from(secret));

function blocks(chunks: readonly Buffer[]) {
  const reader = engineEvents();
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

/** The data of the events, read by the bare library in one piece. It waits after a lone CR, so the text has LF only. */
function theirs(text: string): string[] {
  const data: string[] = [];
  const parser = createParser({ onEvent: (event) => data.push(event.data) });
  parser.feed(text);
  return data;
}

function redacted(chunks: readonly Buffer[]): Buffer {
  const redactor = new StreamRedactor(SECRETS);
  return Buffer.concat([...chunks.map((chunk) => redactor.push(chunk)), redactor.end()]);
}

function usage(chunks: readonly Buffer[]) {
  const tap = new UsageTap();
  for (const chunk of chunks) tap.push(chunk);
  return tap.read();
}

/**
 * A stream of events is parsed, counted and redacted independently of its chunks, and parsed like a public
 * parser does.
 */
export function fuzz(data: Buffer): void {
  const { whole, chunks } = chunked(data);
  const read = blocks([whole]);
  assertSame(blocks(chunks), read, 'a stream and the same one in pieces');
  assertSame(usage(chunks), usage([whole]), 'its usage');
  const clean = redacted([whole]);
  assertSame(redacted(chunks), clean, 'what is blotted out of it');
  assertProperty(clean.length === whole.length, 'blots that change a length');
  for (const secret of SECRETS) assertProperty(!clean.includes(secret), 'a secret that is not blotted');
  const text = new TextDecoder().decode(whole);
  const ours = read.flatMap((block) => ('data' in block && block.data !== '' ? [block.data] : []));
  const others = theirs(`${text.replaceAll(/\r\n?/g, '\n')}\n\n`).filter((each) => each !== '');
  assertSame(ours, others, 'our reading and that of a public parser');
}
