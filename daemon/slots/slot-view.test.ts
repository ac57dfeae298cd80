import { expect, it } from 'vitest';
import { ControllerBench, slotConfig } from './testing/controller-bench.ts';

const OLD = { type: 'llm', engine: 'embedded', runner: 'worker', vision: undefined };
const NEW = { type: 'embedding', engine: 'llama-server', runner: 'process', vision: true };

it('what is served is that of the engine that runs, until the next start takes what the file says', async () => {
  const bench = new ControllerBench();
  const { controller } = bench;
  await controller.load();
  controller.configure(slotConfig('agent', 'type = "embedding"\nengine = "llama-server"\nvision = true'));
  expect(controller.view).toMatchObject(OLD);
  expect(controller.record()).toMatchObject({ type: 'llm', engine: 'embedded', runner: 'worker' });
  expect(controller.record()).not.toHaveProperty('vision');
  await controller.unload();
  expect(controller.view).toMatchObject(NEW);
  expect(controller.record()).toMatchObject(NEW);
  await controller.load();
  expect(controller.view).toMatchObject(NEW);
});
