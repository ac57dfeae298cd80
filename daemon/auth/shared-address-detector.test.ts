import { describe, expect, it } from 'vitest';
import { type Forwarding, proxyList } from './client-address.ts';
import { createSharedAddressDetector } from './shared-address-detector.ts';

const OFF: Forwarding = { trust: false, proxies: proxyList([]) };
const ON: Forwarding = { trust: true, proxies: proxyList(['203.0.113.7']) };
const HOUR = 3_600_000;

function setup() {
  const at = { ms: 0 };
  const watch = createSharedAddressDetector(() => at.ms);
  const observe = (peer: string, forwarded: string | null, how = OFF) =>
    watch.observe(
      { peer, rawHeaders: ['Host', 'x', ...(forwarded === null ? [] : ['X-Forwarded-For', forwarded])] },
      how,
    );
  return { at, watch, observe };
}

describe('several callers that share one address', () => {
  it.each([
    ['an untrusted proxy names two callers', OFF, '127.0.0.1', ['192.0.2.1', '192.0.2.2'], 'untrusted'],
    [
      'the same behind a proxy of the own network',
      OFF,
      '::ffff:10.0.0.9',
      ['192.0.2.1', '192.0.2.2'],
      'untrusted',
    ],
    ['one caller alone', OFF, '127.0.0.1', ['192.0.2.1', '192.0.2.1:443', '::ffff:192.0.2.1'], null],
    [
      'values that the caller wrote do not count',
      OFF,
      '127.0.0.1',
      ['1.1.1.1, 192.0.2.1', '2.2.2.2, 192.0.2.1'],
      null,
    ],
    ['text that is not an address', OFF, '127.0.0.1', ['unknown', '', '_hidden', '192.0.2.1'], null],
    ['no caller is named', OFF, '127.0.0.1', [null, null], null],
    ['a public peer can send any value', OFF, '198.51.100.4', ['1.1.1.1', '2.2.2.2'], null],
    ['a trusted proxy', ON, '127.0.0.1', ['192.0.2.1', '192.0.2.2'], null],
    ['a listed public proxy', ON, '203.0.113.7', ['192.0.2.1', '192.0.2.2'], null],
    ['a public proxy that is not listed', ON, '198.51.100.4', ['192.0.2.1', '192.0.2.2'], 'unlisted'],
  ] as const)('%s', (_name, how, peer, headers, expected) => {
    const { watch, observe } = setup();
    for (const header of headers) observe(peer, header, how);
    expect(watch.cause(how)).toBe(expected);
  });

  it('two proxies with one caller each share no address', () => {
    const { watch, observe } = setup();
    observe('10.0.0.1', '192.0.2.1');
    observe('10.0.0.2', '192.0.2.2');
    expect(watch.cause(OFF)).toBeNull();
  });

  it('ends when the setting is made, and an hour after the last detection', () => {
    const { at, watch, observe } = setup();
    observe('127.0.0.1', '192.0.2.1');
    observe('127.0.0.1', '192.0.2.2');
    expect(watch.cause(OFF)).toBe('untrusted');
    expect(watch.cause(ON)).toBeNull();
    at.ms = HOUR / 2;
    observe('127.0.0.1', '192.0.2.2');
    at.ms = HOUR + 1;
    expect(watch.cause(OFF)).toBe('untrusted');
    at.ms = 2 * HOUR;
    expect(watch.cause(OFF)).toBeNull();
  });

  it('callers of two different days are not concurrent', () => {
    const { at, watch, observe } = setup();
    observe('127.0.0.1', '192.0.2.1');
    at.ms = HOUR + 1;
    observe('127.0.0.1', '192.0.2.2');
    expect(watch.cause(OFF)).toBeNull();
  });

  it('many peers evict the oldest, and detection continues', () => {
    const { watch, observe } = setup();
    for (let n = 0; n < 10_000; n++) observe(`10.0.${n >> 8}.${n & 255}`, '192.0.2.1');
    expect(watch.cause(OFF)).toBeNull();
    observe('10.0.39.15', '192.0.2.9');
    expect(watch.cause(OFF)).toBe('untrusted');
  });
});
