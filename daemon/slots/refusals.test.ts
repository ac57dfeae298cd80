import { describe, expect, it } from 'vitest';
import { nextFailure } from './lifecycle/failure.ts';
import {
  disabledError,
  failedError,
  loadingError,
  noMemoryError,
  noModelError,
  queueFullError,
  stoppingError,
  unloadedError,
} from './refusals.ts';
import { sumOf } from './testing/memory.ts';

const MIB = 1024 * 1024;
const NOW = 1_000_000;
const once = nextFailure(null, 'broke', NOW, null);
const parked = [1, 2, 3, 4].reduce((failure) => nextFailure(failure, 'broke', NOW, null), once);

describe('refusals', () => {
  it.each([
    ['failed', failedError('a', once, NOW + 1_000), 503, 'slot.failed', { 'retry-after': '4' }],
    ['parked', failedError('a', parked, NOW), 503, 'slot.failed', { 'x-should-retry': 'false' }],
    ['no model', noModelError('a', 'none'), 409, 'slot.failed', { 'x-should-retry': 'false' }],
    ['loading', loadingError('a', 0.5), 503, 'slot.loading', { 'retry-after': '10' }],
    [
      'queue full',
      queueFullError({ slot: 'a', position: 65, queued: 64, expectedS: null, remedy: 'Wait.' }),
      429,
      'slot.queue_full',
      { 'retry-after': '5' },
    ],
    ['disabled', disabledError('a'), 409, 'slot.disabled', { 'x-should-retry': 'false' }],
    ['stopping', stoppingError('a'), 503, 'slot.draining', { 'retry-after': '10' }],
    ['unloaded', unloadedError('a'), 503, 'slot.draining', { 'retry-after': '1' }],
    ['no memory', noMemoryError('a', sumOf({ needed: 9, free: 0, reserved: 0 })), 507, 'slot.no_memory', {}],
  ])('%s', (_, error, status, code, headers) => {
    expect([error.status, error.code, error.headers()]).toEqual([status, code, headers]);
    expect(error.options.details).toMatchObject({ slot: 'a' });
  });

  it('names slot, cause and next step of a failure', () => {
    expect(failedError('a', once, NOW + 1_000).message).toBe('Slot a failed: broke. Next attempt in 4 s.');
    expect(failedError('a', parked, NOW).message).toBe(
      'Slot a failed: broke. It is not retried automatically. Fix the cause, then load the slot again.',
    );
  });

  it('507 contains the memory sum', () => {
    const sum = sumOf({ needed: 900 * MIB, free: 1_000 * MIB, reserved: 100 * MIB });
    const error = noMemoryError('a', sum);
    expect(error.message).toBe('Slot a needs 900 MiB of memory; 388 MiB are available.');
    expect(error.options.details).toEqual({
      slot: 'a',
      pool: 'host',
      limit: null,
      held: 0,
      needed: 900 * MIB,
      free: 1_000 * MIB,
      reserved: 100 * MIB,
      kept_free: 512 * MIB,
      short: 512 * MIB,
      victims: [],
    });
  });

  it('507 names the limit for slots only where that limit is exceeded', () => {
    const sum = { needed: 198 * MIB, free: 21_000 * MIB, reserved: 0 };
    const limited = noMemoryError('a', sumOf({ ...sum, limit: 1_000_000 }));
    expect(limited.message).toBe(
      'Slot a needs 198 MiB of memory; the setting slots.memory_limit leaves 0 MiB.',
    );
    expect(limited.options.details).toMatchObject({ limit: 1_000_000, held: 0, free: 21_000 * MIB });
    const lowMemory = noMemoryError('a', sumOf({ ...sum, free: 600 * MIB, limit: 9_000 * MIB }));
    expect(lowMemory.message).toBe('Slot a needs 198 MiB of memory; 88 MiB are available.');
  });
});
