import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { engineEvents } from './engine-events.ts';

const MIB = 1024 * 1024;

test.each(['x'.repeat(MIB), `data: ${'x'.repeat(MIB)}\n`, 'data:\n'.repeat(MIB)])(
  'an endless event is an error of the upstream after 4 MiB',
  (text) => {
    const parser = engineEvents();
    const piece = Buffer.from(text);
    for (let i = 0; i < 3; i++) expect(parser.push(piece)).toEqual([]);
    expect(() => {
      for (let i = 0; i < 3; i++) parser.push(piece);
    }).toThrow(GatewayError);
  },
);

test('any number of events below the limit pass', () => {
  const parser = engineEvents();
  const piece = Buffer.from(`data: ${'x'.repeat(MIB)}\n\n`);
  for (let i = 0; i < 6; i++) expect(parser.push(piece)).toHaveLength(1);
});
