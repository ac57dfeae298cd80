import { describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { createEnforcement } from './enforcement.ts';
import { memorySettings } from './testing.ts';

function setup(
  file: Parameters<typeof memorySettings>[0] = {},
  env: Parameters<typeof memorySettings>[1] = {},
  key = true,
) {
  const settings = memorySettings(file, env);
  const state = { key };
  return { settings, state, enforcement: createEnforcement({ settings, hasAdminKey: () => state.key }) };
}

describe('enforcement', () => {
  it('is off at first, and applies to the next request after it is turned on', async () => {
    const { enforcement } = setup();
    expect(enforcement.effective()).toEqual({ require_auth: false, source: 'default' });
    expect(await enforcement.set(true)).toEqual({
      require_auth: true,
      persisted: true,
      source: 'file',
      applies_live: true,
    });
    expect(enforcement.effective()).toEqual({ require_auth: true, source: 'file' });
    expect(await enforcement.set(false)).toEqual({
      require_auth: false,
      persisted: false,
      source: 'file',
      applies_live: true,
    });
  });

  it('F05 turning on without an admin key is refused and changes nothing; turning off needs none', async () => {
    const { enforcement, settings, state } = setup({}, {}, false);
    const error = await enforcement.set(true).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).code).toBe('auth.no_admin_key');
    expect((error as GatewayError).status).toBe(400);
    expect(settings.file).toEqual({});
    expect((await enforcement.set(false)).persisted).toBe(false);
    state.key = true;
    expect((await enforcement.set(true)).require_auth).toBe(true);
  });

  it.each([
    [undefined, true, false],
    [undefined, false, true],
    [true, true, false],
    [true, false, true],
    [false, true, false],
    [false, false, true],
  ])('the environment always wins: file %j, environment %j, set to %j', async (file, env, value) => {
    const { enforcement } = setup(file === undefined ? {} : { requireAuth: file }, { requireAuth: env });
    expect(enforcement.effective()).toEqual({ require_auth: env, source: 'env' });
    expect(await enforcement.set(value)).toMatchObject({
      require_auth: env,
      persisted: value,
      source: 'env',
    });
    expect(enforcement.effective()).toEqual({ require_auth: env, source: 'env' });
  });

  it('the environment always wins; the persisted value is stored for later', async () => {
    const off = setup({ requireAuth: true }, { requireAuth: false });
    expect(off.enforcement.effective()).toEqual({ require_auth: false, source: 'env' });
    const on = setup({}, { requireAuth: true });
    expect(await on.enforcement.set(false)).toEqual({
      require_auth: true,
      persisted: false,
      source: 'env',
      applies_live: true,
    });
    expect(on.enforcement.effective()).toEqual({ require_auth: true, source: 'env' });
  });

  it('a failed write rejects and changes nothing', async () => {
    const { settings } = setup();
    const broken = createEnforcement({
      settings: { ...settings, persist: () => Promise.reject(new Error('read-only')) },
      hasAdminKey: () => true,
    });
    await expect(broken.set(true)).rejects.toThrow('read-only');
    expect(broken.effective().require_auth).toBe(false);
  });

  it('is null when the file has no value', async () => {
    const { settings, enforcement } = setup({}, { requireAuth: true });
    settings.persist = async () => {};
    expect(await enforcement.set(true)).toMatchObject({ persisted: null, require_auth: true, source: 'env' });
  });
});
