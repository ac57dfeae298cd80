import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MAX_WORKFLOW_BYTES } from '../contract/workflow.ts';
import { AdminBench, refusedFields } from './testing/admin-bench.ts';
import { refusalOf } from './testing/refusal-of.ts';

let bench: AdminBench;
beforeEach(() => {
  bench = new AdminBench();
});
afterEach(() => bench.remove());

const SLOT =
  'type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "http://127.0.0.1:1"\nautoload = false\n';
const node = (inputs: object) => ({
  '6': { class_type: 'CLIPTextEncode', inputs: { text: 'x', ...inputs } },
});
const body = (workflow: Record<string, unknown>) => ({
  ...{ file: 'art.json', workflow, inputs: { prompt: ['6.text'] }, replace: false },
});
const path = () => join(bench.folders.config, 'slots', 'art.json');

it('a workflow that grows when it is indented is written as it was sent, and can be read again', async () => {
  bench.slotFile('art', SLOT);
  const slots = bench.openAdmin();
  const workflow = node({ points: Array.from({ length: 300_000 }, () => 0) });
  expect(JSON.stringify(workflow).length).toBeLessThan(900 * 1024);
  await slots.setWorkflow('art', body(workflow));
  expect(readFileSync(path()).length).toBeLessThanOrEqual(MAX_WORKFLOW_BYTES);
  expect(slots.problems()).toEqual([]);
  const written = JSON.stringify(JSON.parse(readFileSync(path(), 'utf8')));
  expect(written === JSON.stringify(workflow)).toBe(true);
});

it('a workflow that nests deeply stays small', async () => {
  bench.slotFile('art', SLOT);
  const slots = bench.openAdmin();
  let points: unknown = [];
  for (let depth = 0; depth < 3000; depth++) points = [points];
  await slots.setWorkflow('art', body(node({ points })));
  expect(readFileSync(path()).length).toBeLessThan(20_000);
  expect(slots.problems()).toEqual([]);
});

it('a workflow above the limit is refused, and nothing is written', async () => {
  bench.slotFile('art', SLOT);
  const slots = bench.openAdmin();
  const large = body(node({ text: 'x'.repeat(MAX_WORKFLOW_BYTES) }));
  expect(await refusedFields(slots.setWorkflow('art', large))).toEqual(['slot.invalid', ['workflow']]);
  expect([existsSync(path()), bench.text('art')]).toEqual([false, SLOT]);
});

it('repairs a slot whose workflow cannot be used', async () => {
  bench.slotFile('art', `${SLOT}workflow = "art.json"\n`);
  writeFileSync(path(), 'no JSON');
  const slots = bench.openAdmin();
  expect(slots.problems()).toHaveLength(1);
  const record = await slots.setWorkflow('art', { ...body(node({})), replace: true });
  expect([record.name, slots.problems()]).toEqual(['art', []]);
});

it('404 for an unknown slot, 422 for one of another engine', async () => {
  const slots = bench.openAdmin();
  expect((await refusalOf(slots.setWorkflow('missing', body(node({}))))).code).toBe('slot.not_found');
  expect((await refusalOf(slots.setWorkflow('agent', body(node({}))))).code).toBe('slot.invalid');
  expect(existsSync(path())).toBe(false);
});
