import { expect, it } from 'vitest';
import { slotNotFound, upstreamNotFound } from './not-found.ts';

it('names the missing slot and lists the existing ones', () => {
  expect(slotNotFound('nope', ['agent', 'embed'])).toMatchObject({
    code: 'slot.not_found',
    status: 404,
    message: 'There is no slot "nope". Slots: agent, embed.',
    options: { details: { slot: 'nope' } },
  });
});

it('names the missing upstream', () => {
  expect(upstreamNotFound('desk')).toMatchObject({
    code: 'upstream.not_found',
    message: 'There is no upstream "desk".',
    options: { details: { upstream: 'desk' } },
  });
});

it('limits the length of the name and of the list', () => {
  const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
  const { message } = slotNotFound('x'.repeat(500), names);
  expect(message).toContain(`"${'x'.repeat(64)}…"`);
  expect(message).toMatch(/ s11, …\.$/);
});
