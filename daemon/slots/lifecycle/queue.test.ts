import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, MAX_INTERACTIVE_IN_A_ROW, type Priority } from './queue.ts';

describe('FairQueue', () => {
  it('serves interactive before batch, each in order of arrival', () => {
    const queue = new FairQueue<string>();
    queue.add('b1', 'batch', 9);
    queue.add('i1', 'interactive', 9);
    queue.add('b2', 'batch', 9);
    queue.add('i2', 'interactive', 9);
    expect(queue.all()).toEqual(['i1', 'i2', 'b1', 'b2']);
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual([
      'i1',
      'i2',
      'b1',
      'b2',
      undefined,
    ]);
  });

  it('is bounded', () => {
    const queue = new FairQueue<number>();
    expect(queue.add(1, 'interactive', 2)).not.toBeNull();
    expect(queue.add(2, 'batch', 2)).not.toBeNull();
    expect(queue.add(3, 'interactive', 2)).toBeNull();
    expect(queue.size).toBe(2);
  });

  it('removes a caller that disconnects, once', () => {
    const queue = new FairQueue<number>();
    queue.add(1, 'interactive', 9);
    const leave = queue.add(2, 'interactive', 9);
    queue.add(3, 'interactive', 9);
    expect([leave?.(), leave?.()]).toEqual([true, false]);
    expect(queue.all()).toEqual([1, 3]);
  });

  it('returns the position that a new caller would have', () => {
    const queue = new FairQueue<number>();
    queue.add(1, 'interactive', 9);
    queue.add(2, 'batch', 9);
    expect(queue.position('interactive')).toBe(2);
    expect(queue.position('batch')).toBe(3);
  });

  it('a batch caller is not starved by a steady stream of interactive ones', () => {
    const queue = new FairQueue<string>();
    queue.add('batch', 'batch', 99);
    for (let i = 0; i < 20; i++) queue.add(`i${i}`, 'interactive', 99);
    const served = Array.from({ length: MAX_INTERACTIVE_IN_A_ROW + 1 }, () => queue.shift());
    expect(served.at(-1)).toBe('batch');
  });

  it('property: no caller is lost, duplicated, or served after it left; the limit holds', () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        priority: fc.constantFrom<Priority>('interactive', 'batch'),
      }),
      fc.record({ do: fc.constant('shift' as const) }),
      fc.record({ do: fc.constant('leave' as const), who: fc.nat(30) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const queue = new FairQueue<number>();
        const waiting = new Map<number, () => boolean>();
        let next = 0;
        for (const one of steps) {
          if (one.do === 'add') {
            const leave = queue.add(next, one.priority, 5);
            expect(leave === null).toBe(waiting.size >= 5);
            if (leave !== null) waiting.set(next, leave);
            next += 1;
          } else if (one.do === 'shift') {
            const served = queue.shift();
            expect(served === undefined ? waiting.size === 0 : waiting.delete(served)).toBe(true);
          } else {
            const leave = waiting.get(one.who);
            if (leave !== undefined) expect(leave()).toBe(true);
            waiting.delete(one.who);
          }
          expect(queue.size).toBe(waiting.size);
        }
      }),
    );
  });
});
