import { expect, it } from 'vitest';
import { transcriptEvents } from './transcript-events.ts';

const events = (text: string) => transcriptEvents(Buffer.from(text));

it('a transcript becomes one delta and the end', () => {
  expect(events('{"text":"one two","segments":[]}')).toBe(
    'data: {"type":"transcript.text.delta","delta":"one two"}\n\n' +
      'data: {"type":"transcript.text.done","text":"one two"}\n\n',
  );
  expect(events('{"text":""}')).toBe('data: {"type":"transcript.text.done","text":""}\n\n');
});

it.each(['', 'one two', '[]', '{"error":{"message":"x"}}', '{"text":7}'])(
  '%j is not a transcript',
  (text) => {
    expect(events(text)).toBeNull();
  },
);
