import { describe, expect, it } from 'vitest';
import { RotateResponse } from '../contract/auth.ts';
import type { GatewayError } from '../contract/errors.ts';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { fingerprint } from './keys.ts';
import { createRotate } from './rotate.ts';
import { memorySettings } from './testing.ts';

function setup() {
  const settings = memorySettings();
  const { log, lines } = recordedLog();
  const rotated: unknown[] = [];
  const rotate = createRotate<string>({
    settings,
    log,
    envFile: '/etc/svc/api.env',
    onRotated: (...event) => rotated.push(event),
    now: () => 0,
  });
  return { settings, lines, rotated, rotate, log };
}

describe('rotate', () => {
  it('R03 writes a new key, returns its fingerprint and length, and emits the rotation', async () => {
    const { rotate, settings, rotated } = setup();
    const view = await rotate('admin', 'operator');
    const key = settings.env.adminKey as string;
    expect(view).toMatchObject({
      tier: 'admin',
      key_len: 43,
      fingerprint: fingerprint(key),
      rotated_at: '1970-01-01T00:00:00.000Z',
      applies_live: true,
      restart_required: false,
      session_preserved: true,
      note: expect.stringContaining('environment file /etc/svc/api.env'),
    });
    expect(RotateResponse.parse(view)).toEqual(view);
    expect(rotated).toEqual([['admin', fingerprint(key), 'operator']]);
    expect(settings.env.clientKey).toBeUndefined();
    await rotate('client');
    expect(settings.env.adminKey).toBe(key);
    expect(settings.env.clientKey).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{42}$/);
  });

  it('R01 neither the response nor the log contains any part of the key', async () => {
    const { rotate, settings, lines } = setup();
    const view = await rotate('client');
    const key = settings.env.clientKey as string;
    const text = JSON.stringify([view, lines]).replaceAll(fingerprint(key), '');
    for (let i = 0; i + 6 <= key.length; i++) expect(text).not.toContain(key.slice(i, i + 6));
  });

  it('the note names the file with the key and the next step', async () => {
    const { rotate } = setup();
    for (const tier of ['admin', 'client'] as const) {
      expect((await rotate(tier)).note).toMatch(
        /written to the environment file \/etc\/svc\/api\.env and is never shown in the dashboard/,
      );
    }
    expect((await rotate('client')).note).toMatch(/restart svc-companion/);
  });

  it('R04 concurrent rotations run one after the other; the last response is in force', async () => {
    const { settings, log } = setup();
    let running = 0;
    const slow = {
      async setEnvFile(name: 'adminKey' | 'clientKey', value: string) {
        expect(++running).toBe(1);
        await new Promise(setImmediate);
        await settings.setEnvFile(name, value);
        running--;
      },
    };
    const rotate = createRotate({ settings: slow, log, envFile: 'api.env', onRotated: () => {} });
    const turns = Array.from({ length: 200 }, (_, i) => rotate(i % 2 ? 'client' : 'admin'));
    const views = await Promise.all(turns);
    expect(new Set(views.map((view) => view.fingerprint)).size).toBe(200);
    expect(views.at(-1)?.fingerprint).toBe(fingerprint(settings.env.clientKey as string));
    expect(views.at(-2)?.fingerprint).toBe(fingerprint(settings.env.adminKey as string));
  });

  it('R11 a failure is auth.rotate_failed without a path, emits nothing, and does not block the next', async () => {
    const { settings, log, rotated } = setup();
    const failure = Object.assign(new Error("EROFS: read-only file system, open '/etc/svc/api.env'"), {
      code: 'EROFS',
      path: '/etc/svc/api.env',
    });
    let fail = true;
    const rotate = createRotate({
      settings: {
        setEnvFile: (name, value) => (fail ? Promise.reject(failure) : settings.setEnvFile(name, value)),
      },
      envFile: 'api.env',
      log,
      onRotated: (...event) => rotated.push(event),
    });
    const error = (await rotate('admin').catch((thrown: unknown) => thrown)) as GatewayError;
    expect([error.code, error.status]).toEqual(['auth.rotate_failed', 500]);
    expect(error.envelope('api').error.details).toEqual({ reason: 'EROFS' });
    expect(JSON.stringify(error.envelope('api'))).not.toContain('/etc');
    expect(rotated).toEqual([]);
    expect(settings.env.adminKey).toBeUndefined();
    fail = false;
    expect((await rotate('admin')).fingerprint).toBe(fingerprint(settings.env.adminKey as unknown as string));
  });

  it('R11 a failed write is named, and says that the old key remains valid', async () => {
    const rotate = createRotate({
      settings: {
        setEnvFile: () =>
          Promise.reject(new FileWriteError('/etc/svc/api.env', 'symlink', 'is a symbolic link')),
      },
      ...{ log: setup().log, envFile: 'api.env', onRotated: () => {} },
    });
    await expect(rotate('client')).rejects.toMatchObject({
      code: 'auth.rotate_failed',
      message:
        'The environment file could not be replaced: api.env is a symbolic link. The old key remains valid.',
    });
  });

  it('R11 an unknown failure has no details', async () => {
    const { log } = setup();
    for (const failure of [new Error('x'), 'x', null, { code: '/etc/svc' }, { code: 5 }]) {
      const rotate = createRotate({
        settings: { setEnvFile: () => Promise.reject(failure) },
        log,
        envFile: 'api.env',
        onRotated: () => {},
      });
      const error = (await rotate('admin').catch((thrown: unknown) => thrown)) as GatewayError;
      expect(error.envelope('api').error).not.toHaveProperty('details');
    }
  });
});
