import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { addressOf, call } from './client.ts';

afterEach(() => vi.unstubAllGlobals());

describe('addressOf', () => {
  it('fills and encodes parameters and appends the query', () => {
    expect(addressOf('auth.status')).toBe('/api/auth/status');
    expect(addressOf('slot', { params: { name: 'a/b' } })).toBe('/api/slots/a%2Fb');
    expect(addressOf('v1.model', { params: { model_id: 'svc/agent' } })).toBe('/v1/models/svc%2Fagent');
    expect(addressOf('v1.models', { query: { show_all: 'true' } })).toBe('/v1/models?show_all=true');
  });

  it('refuses a missing parameter', () => {
    expect(() => addressOf('slot')).toThrow(':name');
  });
});

describe('call', () => {
  it('sends the method of the route and the body, and returns the parsed response', async () => {
    const requests: RequestInit[] = [];
    vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => {
      requests.push(init);
      return Response.json({ ok: true, tier: 'admin' });
    });
    await expect(call('auth.login', { body: { key: 'k' } })).resolves.toEqual({ ok: true, tier: 'admin' });
    expect(requests[0]).toMatchObject({ method: 'POST', body: '{"key":"k"}', credentials: 'same-origin' });
  });

  it('throws the envelope as ApiError', async () => {
    vi.stubGlobal('fetch', async () =>
      Response.json({ error: { code: 'auth.required', message: 'A key is required.' } }, { status: 401 }),
    );
    await expect(call('status')).rejects.toMatchObject({ info: { code: 'auth.required', status: 401 } });
  });

  it('rethrows an abort of the caller', async () => {
    vi.stubGlobal('fetch', async (_url: string, init: RequestInit) => init.signal?.throwIfAborted());
    const signal = AbortSignal.abort();
    await expect(call('status', { signal })).rejects.not.toBeInstanceOf(ApiError);
  });
});
