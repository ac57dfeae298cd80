import { expect, it } from 'vitest';
import { ChatEventFilter } from './chat-event-filter.ts';

const event = (value: object): Buffer => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
const choice = (finish_reason: unknown) => ({ choices: [{ index: 0, delta: {}, finish_reason }] });
const ERROR = { error: { message: 'the worker died', type: 'server_error' } };

it.each<[string, object, string | undefined]>([
  ['a known finish reason', choice('stop'), undefined],
  ['an unknown finish reason', choice('eos'), undefined],
  ['abort', choice('abort'), 'aborted'],
  ['error', choice('error'), 'aborted'],
  ['network_error', choice('network_error'), 'aborted'],
  ['insufficient_system_resource', choice('insufficient_system_resource'), 'aborted'],
  ['model_length', choice('model_length'), undefined],
  ['an unknown finish reason next to an error', { ...choice('crashed'), ...ERROR }, 'aborted'],
  ['a known finish reason next to an error', { ...choice('length'), ...ERROR }, 'reported'],
  ['no finish reason next to an error', { ...choice(null), ...ERROR }, 'reported'],
  ['an error alone', ERROR, 'reported'],
])('%s', (_, value, kind) => {
  const filter = new ChatEventFilter(false, () => {});
  const bytes = filter.push(event(value));
  expect(filter.fault?.kind).toBe(kind);
  expect(bytes.length > 0).toBe(kind !== 'aborted');
});
