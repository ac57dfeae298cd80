import { describe, expect, it } from 'vitest';
import { allHeaders, decodeUtf8, firstHeader, isNamed } from './raw-headers.ts';

const raw = ['Host', 'a', 'HOST', 'b', 'Hos', 'c', 'x-Host', 'd'];

describe('raw headers', () => {
  it('reads the first or all values of a name, ignoring case, in order', () => {
    expect(firstHeader(raw, 'host')).toBe('a');
    expect(allHeaders(raw, 'host')).toEqual(['a', 'b']);
    expect(firstHeader(raw, 'origin')).toBeUndefined();
    expect(allHeaders(raw, 'origin')).toEqual([]);
    expect(isNamed('Hosts', 'host')).toBe(false);
  });

  it('never reads a value as a name', () => {
    expect(firstHeader(['x', 'host', 'y', 'z'], 'host')).toBeUndefined();
    expect(allHeaders(['x', 'host', 'host'], 'host')).toEqual([]);
  });

  it('decodes UTF-8 bytes and leaves Latin-1 and wide text unchanged', () => {
    expect(decodeUtf8(Buffer.from('bücher', 'utf8').toString('latin1'))).toBe('bücher');
    expect(decodeUtf8('b\xfccher')).toBe('b\xfccher');
    expect(decodeUtf8('日本')).toBe('日本');
    expect(decodeUtf8('plain')).toBe('plain');
  });
});
