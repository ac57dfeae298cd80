import { describe, expect, it } from 'vitest';
import { missingKey, upstreamBadge } from './upstream-badge.ts';

const upstream = { enabled: true, health: 'unknown', key_env: 'UPSTREAM_DESK_KEY', key_set: false } as const;

describe('a key variable without a value', () => {
  it.each([
    [upstream, 'UPSTREAM_DESK_KEY', 'Key missing'],
    [{ ...upstream, health: 'auth_failed' } as const, 'UPSTREAM_DESK_KEY', 'Key missing'],
    [{ ...upstream, key_set: true }, null, 'Not checked yet'],
    [{ ...upstream, key_env: null }, null, 'Not checked yet'],
    [{ ...upstream, health: 'ok' } as const, null, 'Online'],
    [{ ...upstream, health: 'down' } as const, null, 'Down'],
    [{ ...upstream, enabled: false, health: 'disabled' } as const, null, 'Disabled'],
  ])('%#', (upstream, missing, word) => {
    expect(missingKey(upstream)).toBe(missing);
    expect(upstreamBadge(upstream).word).toBe(word);
  });
});
