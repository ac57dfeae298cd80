import { describe, expect, it } from 'vitest';
import type { RequireView } from '../../contract/auth.ts';
import type { Client } from '../client.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Flags } from '../options.ts';
import { requireAuth, rotate } from './auth.ts';

const ROTATED = { fingerprint: 'abcd1234', key_len: 43, rotated_at: 'now', note: 'Done.' };

/** A gateway with these responses, no terminal, and what was requested and printed. */
function contextFor(responses: Readonly<Record<string, unknown>>, flags: Flags = {}) {
  const requests: string[] = [];
  let printed = '';
  const client: Client = {
    call: async <T>(route: string) => {
      requests.push(route);
      return responses[route] as T;
    },
    base: '',
    open: () => Promise.reject(new Error('not used')),
  };
  const context = {
    client,
    flags,
    out: (text: string) => {
      printed += text;
    },
    confirm: async () => null,
  } as unknown as CommandContext;
  return { context, requests, printed: () => printed };
}

describe('auth rotate without a terminal', () => {
  it.each([
    ['admin', { has_admin_key: false, has_client_key: true }],
    ['client', { has_admin_key: true, has_client_key: false }],
  ])('creates the first %s key without --force', async (tier, status) => {
    const { context, printed } = contextFor({ status, 'auth.rotate': ROTATED });
    expect(await rotate(context, tier)).toBe(EXIT.ok);
    expect(printed()).toContain('Fingerprint  abcd1234');
  });

  it.each(['admin', 'client'])('does not replace a %s key', async (tier) => {
    const status = { has_admin_key: true, has_client_key: true };
    const { context, requests } = contextFor({ status, 'auth.rotate': ROTATED });
    await expect(rotate(context, tier)).rejects.toMatchObject({ exitCode: EXIT.declined });
    expect(requests).toEqual(['status']);
  });

  it('replaces a key with --force', async () => {
    const { context, requests } = contextFor({ 'auth.rotate': ROTATED }, { force: true });
    expect(await rotate(context, 'admin')).toBe(EXIT.ok);
    expect(requests).toEqual(['auth.rotate']);
  });
});

describe('auth require', () => {
  const view = (require_auth: boolean): RequireView => ({
    require_auth,
    persisted: false,
    source: 'env',
    applies_live: true,
  });

  it.each([
    ['off', false, EXIT.ok, 'Enforcement is off.\n'],
    ['on', true, EXIT.ok, 'Enforcement is on.\n'],
    ['off', true, EXIT.failed, /^Saved, but enforcement stays on: SVC_REQUIRE_AUTH /],
    ['on', false, EXIT.failed, /^Saved, but enforcement stays off: SVC_REQUIRE_AUTH /],
  ])('%s, when it is %s afterwards, exits with %d', async (state, now, code, text) => {
    const { context, printed } = contextFor({ 'auth.require': view(now) });
    expect(await requireAuth(context, state)).toBe(code);
    if (typeof text === 'string') expect(printed()).toBe(text);
    else expect(printed()).toMatch(text);
  });
});
