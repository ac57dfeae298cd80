import type { NetworkInterfaceInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { memorySettings } from '../auth/testing.ts';
import { SetupError } from '../lib/setup-error.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { assertExposureAllowed, isOnTheInternet } from './exposure-guard.ts';

async function guarded(values: Parameters<typeof memorySettings>[0]) {
  const { log, lines } = recordedLog();
  await assertExposureAllowed(memorySettings(values), log);
  return lines.map(({ event }) => event);
}

describe('assertExposureAllowed', () => {
  it.each(['127.0.0.1', '127.0.0.9', '::1', 'localhost'])('%s is silent', async (bindHost) =>
    expect(await guarded({ bindHost })).toEqual([]),
  );

  it.each(['192.168.1.2', 'fd00::1', '100.64.0.1'])('%s is logged', async (bindHost) =>
    expect(await guarded({ bindHost })).toEqual(['exposed']),
  );

  it.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is refused', async (bindHost) => {
    await expect(guarded({ bindHost })).rejects.toThrow(SetupError);
    expect(await guarded({ bindHost, allowPublicWithoutAuth: true })).toEqual(['exposed']);
    expect(await guarded({ bindHost, requireAuth: true })).toEqual([]);
  });

  it('ignores a name that does not resolve', async () =>
    expect(await guarded({ bindHost: 'no-such-host.invalid' })).toEqual([]));
});

/** A machine with these addresses. */
const machine = (...addresses: string[]) => ({
  eth0: addresses.map((address) => {
    const family = address.includes(':') ? 'IPv6' : 'IPv4';
    return { address, family } as NetworkInterfaceInfo;
  }),
});

describe('a wildcard bind host', () => {
  const everyIpv6 = ['::', '::0', '0:0:0:0:0:0:0:0', '::%lo'];
  const everyIpv4 = ['0.0.0.0', '::ffff:0.0.0.0', '0', '0x0', '00.0.0.0'];

  it.each([...everyIpv6, ...everyIpv4])(
    '%s on a machine with a public address is refused',
    async (bindHost) => {
      const { log } = recordedLog();
      const network = () => machine('192.168.1.2', '8.8.8.8');
      await expect(
        assertExposureAllowed(memorySettings({ bindHost }), log, bindHost, network),
      ).rejects.toThrow(SetupError);
      expect(await isOnTheInternet(bindHost, network)).toBe(true);
    },
  );

  it.each([...everyIpv6, ...everyIpv4])(
    '%s on a machine in a private network is logged',
    async (bindHost) => {
      const { log, lines } = recordedLog();
      await assertExposureAllowed(memorySettings({ bindHost }), log, bindHost, () =>
        machine('192.168.1.2', 'fd00::1'),
      );
      expect(lines.map(({ event }) => event)).toEqual(['exposed']);
    },
  );

  it('an IPv4 wildcard ignores public IPv6 addresses', async () => {
    const network = () => machine('192.168.1.2', '2606:4700::1111');
    expect([await isOnTheInternet('0.0.0.0', network), await isOnTheInternet('::0', network)]).toEqual([
      false,
      true,
    ]);
  });
});
