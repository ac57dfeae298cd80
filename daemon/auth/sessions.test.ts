import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import { SESSION_TTL_S } from './session-cookie.ts';
import { createSessions } from './sessions.ts';
import { memorySessions } from './testing.ts';

function setup(repo = memorySessions()) {
  const clock = { ms: 1_800_000_000_500 };
  let bytes = randomBytes(32);
  const secret = {
    created: false,
    current: () => bytes,
    renew: async () => {
      bytes = randomBytes(32);
    },
    renewInMemory: () => {},
  };
  const { log, lines } = recordedLog();
  return {
    clock,
    secret,
    lines,
    repo,
    sessions: createSessions({ secret, store: { sessions: repo }, log, now: () => clock.ms }),
  };
}

describe('sessions', () => {
  it('K13 two logins create two sessions, each valid for 8 hours', () => {
    const { sessions, clock } = setup();
    const [one, two] = [sessions.start(), sessions.start()];
    expect(sessions.idOf(one)).toMatch(/^[0-9a-f]{32}$/);
    expect(sessions.idOf(one)).not.toBe(sessions.idOf(two));
    clock.ms += SESSION_TTL_S * 1000 - 501;
    expect(sessions.idOf(one)).not.toBeNull();
    clock.ms += 1;
    expect(sessions.idOf(one)).toBeNull();
  });

  it('K09 a cookie replayed after logout is invalid, also after a restart', () => {
    const { sessions, repo, secret, clock } = setup();
    const [one, two] = [sessions.start(), sessions.start()];
    expect(sessions.revoke(one)).toBe(true);
    expect(sessions.idOf(one)).toBeNull();
    expect(sessions.revoke(one)).toBe(false);
    expect(sessions.idOf(two)).not.toBeNull();
    const { log } = recordedLog();
    const later = createSessions({ secret, store: { sessions: repo }, log, now: () => clock.ms });
    expect(later.idOf(one)).toBeNull();
    expect(later.idOf(two)).not.toBeNull();
  });

  it('an invalid cookie revokes nothing', () => {
    const { sessions, repo } = setup();
    expect(sessions.revoke('x.y')).toBe(false);
    expect(repo.active(0)).toEqual([]);
  });

  it('lists valid sessions with the first 8 characters of their id and marks that of the caller', () => {
    const { sessions, clock } = setup();
    const id = sessions.idOf(sessions.start()) as string;
    clock.ms += 1_000;
    sessions.revoke(sessions.start());
    sessions.start();
    expect(sessions.list(id)).toHaveLength(2);
    expect(sessions.list(id)).toContainEqual({
      id8: id.slice(0, 8),
      created_at: 1_800_000_000,
      expires_at: 1_800_028_800,
      current: true,
    });
    expect(sessions.list(null).some(({ current }) => current)).toBe(false);
  });

  it('ending all sessions invalidates every cookie; when the secret is not replaced, the sessions stay valid', async () => {
    const { sessions, secret, repo } = setup();
    const cookie = sessions.start();
    const renew = secret.renew;
    secret.renew = async () => {
      throw new Error('read-only');
    };
    await expect(sessions.endAll()).rejects.toThrow('read-only');
    expect(sessions.idOf(cookie)).not.toBeNull();
    expect(repo.active(0)).toHaveLength(1);
    secret.renew = renew;
    await sessions.endAll();
    expect(sessions.idOf(cookie)).toBeNull();
    expect(sessions.list(null)).toEqual([]);
  });

  it('Q02 a database that fails on a write breaks neither login nor logout', () => {
    const repo = memorySessions();
    repo.create = repo.revoke = () => {
      throw new Error('SQLITE_FULL');
    };
    const { sessions, lines } = setup(repo);
    const cookie = sessions.start();
    expect(sessions.idOf(cookie)).not.toBeNull();
    expect(sessions.revoke(cookie)).toBe(true);
    const warnings = lines.filter(({ level }) => level === 'warn');
    expect(warnings.map(({ msg }) => msg)).toEqual([
      'the database could not record a session',
      'the database could not record a logout',
    ]);
    expect(warnings[0]).toMatchObject({ err: { message: 'SQLITE_FULL' } });
  });

  it('Q02 a failed removal of expired sessions breaks neither login nor logout', async () => {
    const repo = memorySessions();
    repo.clear = () => {
      throw new Error('SQLITE_FULL');
    };
    const { sessions, lines } = setup(repo);
    const cookie = sessions.start();
    await sessions.endAll();
    expect(sessions.idOf(cookie)).toBeNull();
    expect(lines.map(({ msg }) => msg)).toContain('the database could not record the end of all sessions');
  });

  it('a start removes expired sessions', () => {
    const repo = memorySessions();
    const pruned: number[] = [];
    repo.prune = (nowS) => void pruned.push(nowS);
    setup(repo).sessions.start();
    expect(pruned).toEqual([1_800_000_000]);
  });
});
