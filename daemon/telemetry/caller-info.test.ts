import { expect, it } from 'vitest';
import { readCallerInfo } from './caller-info.ts';

it('reads app and User-Agent, and the class of the address only', () => {
  const headers = { 'x-title': ' Kitchen ', 'user-agent': 'OpenAI/Python 2.4.0' };
  expect(readCallerInfo(headers, '192.168.1.7')).toEqual({
    app: 'Kitchen',
    user_agent: 'OpenAI/Python 2.4.0',
    address: 'private',
  });
  expect(readCallerInfo({}, '')).toEqual({ app: null, user_agent: null, address: null });
});

it.each([
  ['127.0.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['10.1.2.3', 'private'],
  ['100.64.0.9', 'private'],
  ['fd00::1', 'private'],
  ['203.0.114.9', 'public'],
  ['2600::1', 'public'],
])('the class of %s is %s', (address, name) => {
  expect(readCallerInfo({}, address).address).toBe(name);
});

it('limits the length and removes control characters', () => {
  const headers = { 'x-title': '\u0000\u0001', 'user-agent': `a\u001b[31m${'x'.repeat(9000)}` };
  const { app, user_agent: agent } = readCallerInfo(headers, '127.0.0.1');
  expect(app).toBeNull();
  expect(agent).toMatch(/^a \[31mx+…$/);
  expect(agent?.length).toBeLessThanOrEqual(257);
});
