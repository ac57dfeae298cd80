import { describe, expect, it } from 'vitest';
import { closeFailure, voiceAddress } from './socket.ts';

describe('a session', () => {
  it.each([
    ['http://box:8080', 'agent', 'ws://box:8080/v1/realtime?model=agent'],
    ['https://box', 'a/b c', 'wss://box/v1/realtime?model=a%2Fb+c'],
  ])('%s has its own address', (origin, model, address) => {
    expect(voiceAddress(origin, model)).toBe(address);
  });

  it('reports the message of the catalogue when the gateway closes it', () => {
    const refused = closeFailure(4401, 'auth.required').info;
    expect(refused.code).toBe('auth.required');
    expect(refused.advice).not.toBeNull();
    expect(closeFailure(4408, 'nothing happened for too long').info.message).toMatch(/15 minutes/);
    expect(closeFailure(1006, '').info).toMatchObject({ code: 'realtime.closed' });
  });
});
