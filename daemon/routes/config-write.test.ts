import { describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import { ConfigEditError } from '../settings/config-file.ts';
import { EnvFileError } from '../settings/env-file.ts';
import { configWrite } from './config-write.ts';

const failing = (error: unknown) => configWrite(() => Promise.reject(error));

describe('configWrite', () => {
  it('returns the result of a success', async () => expect(await configWrite(async () => 7)).toBe(7));

  it('names the failure, without a path', async () => {
    const full = new FileWriteError('/etc/svc/config.toml', 'io', 'could not be written', { code: 'ENOSPC' });
    await expect(failing(full)).rejects.toMatchObject({
      code: 'config.write_failed',
      message:
        'The configuration could not be written: config.toml could not be written. Nothing has changed.',
      options: { details: { reason: 'ENOSPC' } },
    });
    const linked = new FileWriteError(
      '/etc/svc/slots/a.toml',
      'symlink',
      'is a symbolic link that leaves its folder',
    );
    await expect(failing(linked)).rejects.toMatchObject({
      code: 'config.write_failed',
      message: expect.stringContaining(': a.toml is a symbolic link that leaves its folder.'),
    });
    const changedMeanwhile = new FileWriteError('/etc/svc/config.toml', 'changed', 'was changed meanwhile');
    await expect(failing(changedMeanwhile)).rejects.toMatchObject({ code: 'config.conflict' });
    await expect(failing(new ConfigEditError('config.toml:3: no'))).rejects.toMatchObject({
      code: 'config.broken',
    });
    await expect(failing(new EnvFileError('it cannot be changed'))).rejects.toMatchObject({
      code: 'config.broken',
      message: 'api.env: it cannot be changed',
    });
  });

  it('reloads when the caller used an old revision', async () => {
    let reloads = 0;
    const stale = () => Promise.reject(new GatewayError('config.stale'));
    await expect(configWrite(stale, () => void reloads++)).rejects.toMatchObject({ code: 'config.stale' });
    const notFound = () => Promise.reject(new GatewayError('slot.not_found'));
    await expect(configWrite(notFound, () => void reloads++)).rejects.toMatchObject({
      code: 'slot.not_found',
    });
    expect(reloads).toBe(1);
  });

  it('leaves every other error unchanged', async () => {
    const error = new Error('else');
    await expect(failing(error)).rejects.toBe(error);
  });
});
