import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContainerEngine, ListedContainer } from '../../../lib/container-engine/container-engine.ts';
import { scratch } from '../../../lib/testing/scratch.ts';
import { endAllContainers } from './end-all.ts';
import { labelsOf } from './labels.ts';
import { stateId } from './state-id.ts';

/** A stand-in for an engine that ignores the filter of a list, and what was removed. */
function standIn(listed: readonly ListedContainer[], fails: ReadonlySet<string> = new Set()) {
  const removed: string[] = [];
  const engine = {
    list: async () => listed,
    stop: async () => {},
    remove: async (id: string) => {
      if (fails.has(id)) throw new Error('busy');
      removed.push(id);
    },
  } as unknown as ContainerEngine;
  let asked = 0;
  const connect = async () => {
    asked += 1;
    return engine;
  };
  return { places: { sockets: () => ['/s'], connect }, removed, asked: () => asked };
}

const container = (id: string, state: string): ListedContainer => ({
  id,
  running: true,
  labels: labelsOf({ state }),
});

test('ends what carries the mark of this folder, whatever else an engine lists', async () => {
  const folder = scratch();
  const mark = stateId(folder);
  const { places, removed } = standIn([
    container('a', mark),
    container('b', 'f'.repeat(32)),
    { id: 'c', running: true, labels: {} },
    container('d', mark),
  ]);
  expect(await endAllContainers(places, folder)).toEqual({ ended: 2, failed: 0 });
  expect(removed).toEqual(['a', 'd']);
});

test('one that can not be ended is counted and stops no other', async () => {
  const folder = scratch();
  const mark = stateId(folder);
  const { places } = standIn([container('a', mark), container('b', mark)], new Set(['a']));
  expect(await endAllContainers(places, folder)).toEqual({ ended: 1, failed: 1 });
});

test('a folder whose gateway never had a container asks nobody and gets no mark', async () => {
  const folder = scratch();
  const { places, asked } = standIn([container('a', '')]);
  expect(await endAllContainers(places, folder)).toEqual({ ended: 0, failed: 0 });
  expect(await endAllContainers(places, join(folder, 'nowhere'))).toEqual({ ended: 0, failed: 0 });
  expect(asked()).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});
