import { expect, it } from 'vitest';
import { OwnerBench, slotConfig } from './testing/owner-bench.ts';

const OLD = { type: 'llm', engine: 'embedded', runner: 'worker', vision: undefined };
const NEW = { type: 'embedding', engine: 'llama-server', runner: 'process', vision: true };

it('what is served is that of the engine that runs, until the next start takes what the file says', async () => {
  const bench = new OwnerBench();
  const { owner } = bench;
  await owner.load();
  owner.configure(slotConfig('agent', 'type = "embedding"\nengine = "llama-server"\nvision = true'));
  expect(owner.glance).toMatchObject(OLD);
  expect(owner.record()).toMatchObject({ type: 'llm', engine: 'embedded', runner: 'worker' });
  expect(owner.record()).not.toHaveProperty('vision');
  await owner.unload();
  expect(owner.glance).toMatchObject(NEW);
  expect(owner.record()).toMatchObject(NEW);
  await owner.load();
  expect(owner.glance).toMatchObject(NEW);
});
