import { expect, it } from 'vitest';
import { readGatewayLine } from './gateway-line.ts';

it('reads level, time, words and the rest', () => {
  const data = JSON.stringify({
    level: 'warn',
    time: '2026-01-01T00:00:00.000Z',
    pid: 7,
    slot: 'agent',
    err: { code: 3 },
    msg: 'slot failed',
  });
  expect(readGatewayLine({ event: 'log', data })).toEqual({
    text: 'WARN  slot failed slot=agent err={"code":3}',
    tone: 'attention',
    at: Date.UTC(2026, 0, 1),
  });
});

it('shows invalid JSON unchanged, and ignores other events', () => {
  expect(readGatewayLine({ event: 'log', data: 'not json' })).toEqual({
    text: 'not json',
    tone: 'plain',
    at: null,
  });
  expect(readGatewayLine({ event: 'slot', data: '{}' })).toBeNull();
  expect(readGatewayLine({ event: 'log', data: '{}' })).toMatchObject({ at: null, tone: 'plain' });
});
