import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { GatewayEvents } from '../../contract/events.ts';
import type { SlotRecord } from '../../contract/slots.ts';
import { EventBus } from '../../lib/async/event-bus.ts';
import { MountGuard } from '../../lib/fs/mount-guard.ts';
import { scratch } from '../../lib/testing/scratch.ts';
import type { SlotConfig } from '../../slots/config/slot-config.ts';
import { AvailableModels, type AvailableModelsDeps } from './available-models.ts';

/** A safetensors file whose only tensor has this name. */
function writeTensors(path: string, name: string): string {
  const header = Buffer.from(JSON.stringify({ [name]: { dtype: 'F16', shape: [1], data_offsets: [0, 2] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(path, Buffer.concat([length, header, Buffer.alloc(2)]));
  return path;
}

function open(path: string, mountGuard?: MountGuard) {
  const bus = new EventBus<GatewayEvents>();
  const slot = { name: 'img', engine: 'sd-server', model: 'weights', state: 'offline' } as SlotRecord;
  const slots = {
    get: () => slot,
    config: () => ({ model: path }) as SlotConfig,
    ensureReady: () => Promise.reject(new Error('it needs no engine')),
  } as AvailableModelsDeps['slots'];
  const outbound = { dispatch: () => Promise.reject(new Error('it sends nothing')) };
  const models = new AvailableModels({ slots, bus, outbound, mountGuard } as unknown as AvailableModelsDeps);
  onTestFinished(() => models.close());
  const change = (state: SlotRecord['state']) => bus.emit('slot', { slot: { ...slot, state } } as never);
  return { models, change, slot };
}

const signal = new AbortController().signal;

test('the family of the file of a slot is read from its header, without an engine', async () => {
  const path = writeTensors(
    join(scratch(), 'weights.safetensors'),
    'model.diffusion_model.label_emb.0.0.weight',
  );
  const { models } = open(path);
  await models.discover('img', signal);
  expect(models.of('img')).toMatchObject([
    { id: 'weights', family: 'sdxl', familySource: 'header', width: 1024 },
  ]);
});

test('it is read again after the slot was unloaded, because the file may be another one', async () => {
  const path = writeTensors(join(scratch(), 'weights.safetensors'), 'label_emb.0.0.weight');
  const { models, change } = open(path);
  await models.discover('img', signal);
  change('ready');
  expect(models.isKnown('img')).toBe(true);
  change('offline');
  expect(models.isKnown('img')).toBe(false);
});

test.each([
  ['says nothing', (folder: string) => writeTensors(join(folder, 'a.safetensors'), 'other')],
  ['does not exist', (folder: string) => join(folder, 'none.safetensors')],
  ['has no absolute path', () => 'weights.safetensors'],
])('a file that %s leaves the family to its name, and is not asked again', async (_, path) => {
  const { models } = open(path(scratch()));
  await models.discover('img', signal);
  expect([models.of('img'), models.isKnown('img')]).toEqual([[], true]);
});

test.each(['safetensors', 'gguf'])('a FIFO named .%s occupies no thread', async (extension) => {
  const path = join(scratch(), `weights.${extension}`);
  execFileSync('mkfifo', [path]);
  const { models } = open(path);
  // More than Node has threads for file operations.
  await Promise.all(Array.from({ length: 8 }, () => models.discover('img', signal)));
  expect(models.of('img')).toEqual([]);
  expect((await readFile(import.meta.filename)).length).toBeGreaterThan(0);
});

test('a disk that does not respond is queried again for the next request', async () => {
  const path = writeTensors(join(scratch(), 'weights.safetensors'), 'label_emb.0.0.weight');
  const guard = new MountGuard({ timeoutMs: 1 });
  const run = guard.run.bind(guard);
  guard.run = (folder) => run(folder, () => new Promise<never>(() => {}));
  const { models } = open(path, guard);
  await models.discover('img', signal);
  expect(models.isKnown('img')).toBe(false);
});

test('a model that the slot got during the read is not given the family of the earlier one', async () => {
  const path = writeTensors(join(scratch(), 'weights.safetensors'), 'label_emb.0.0.weight');
  const { models, slot } = open(path);
  const reading = models.discover('img', signal);
  (slot as { model: string }).model = 'another';
  await reading;
  expect(models.isKnown('img')).toBe(false);
});
