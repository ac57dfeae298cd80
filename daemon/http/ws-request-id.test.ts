import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { upgradeId } from './ws-request-id.ts';

it('each upgrade has its own id', () => {
  const [one, other] = [new IncomingMessage(new Socket()), new IncomingMessage(new Socket())];
  const id = upgradeId(one);
  expect(id).not.toBe('');
  expect(upgradeId(one)).toBe(id);
  expect(upgradeId(other)).not.toBe(id);
});
