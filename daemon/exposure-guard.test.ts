import { describe, expect, it } from 'vitest';
import { memorySettings, recordedLog } from './auth/testing.ts';
import { guardExposure } from './exposure-guard.ts';
import { SetupError } from './kit/setup-error.ts';

async function guarded(values: Parameters<typeof memorySettings>[0]) {
  const { log, lines } = recordedLog();
  await guardExposure(memorySettings(values), log);
  return lines.map(({ event }) => event);
}

describe('guardExposure', () => {
  it.each(['127.0.0.1', '127.0.0.9', '::1', 'localhost'])('%s is silent', async (bindHost) =>
    expect(await guarded({ bindHost })).toEqual([]),
  );

  it.each(['192.168.1.2', 'fd00::1', '100.64.0.1'])('%s is noted', async (bindHost) =>
    expect(await guarded({ bindHost })).toEqual(['exposed']),
  );

  it.each(['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is refused', async (bindHost) => {
    await expect(guarded({ bindHost })).rejects.toThrow(SetupError);
    expect(await guarded({ bindHost, allowPublicWithoutAuth: true })).toEqual(['exposed']);
    expect(await guarded({ bindHost, requireAuth: true })).toEqual([]);
  });

  it('a name that does not resolve is left to the listener', async () =>
    expect(await guarded({ bindHost: 'no-such-host.invalid' })).toEqual([]));
});
