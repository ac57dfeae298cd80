import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContainerEngine, ListedContainer } from '../../../lib/container-engine/container-engine.ts';
import { scratch } from '../../../lib/testing/scratch.ts';
import { endAllContainers } from './end-all.ts';
import { labelsOf } from './labels.ts';
import { stateId } from './state-id.ts';

/** A fake engine that ignores the filter of a list, and the containers that were removed. */
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
  let connects = 0;
  const connect = async () => {
    connects += 1;
    return engine;
  };
  return { engines: { sockets: () => ['/s'], connect }, removed, connects: () => connects };
}

const container = (id: string, state: string): ListedContainer => ({
  id,
  running: true,
  labels: labelsOf({ state }),
});

test('ends only containers with the id of this folder', async () => {
  const folder = scratch();
  const id = stateId(folder);
  const { engines, removed } = standIn([
    container('a', id),
    container('b', 'f'.repeat(32)),
    { id: 'c', running: true, labels: {} },
    container('d', id),
  ]);
  expect(await endAllContainers(engines, folder)).toEqual({ ended: 2, failed: 0 });
  expect(removed).toEqual(['a', 'd']);
});

test('a container that cannot be ended is counted and does not prevent the others from ending', async () => {
  const folder = scratch();
  const id = stateId(folder);
  const { engines } = standIn([container('a', id), container('b', id)], new Set(['a']));
  expect(await endAllContainers(engines, folder)).toEqual({ ended: 1, failed: 1 });
});

test('a folder whose gateway never had a container sends no request and gets no id', async () => {
  const folder = scratch();
  const { engines, connects } = standIn([container('a', '')]);
  expect(await endAllContainers(engines, folder)).toEqual({ ended: 0, failed: 0 });
  expect(await endAllContainers(engines, join(folder, 'nowhere'))).toEqual({ ended: 0, failed: 0 });
  expect(connects()).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});
