import { expect, it } from 'vitest';
import { ControllerBench, slotConfig } from './testing/controller-bench.ts';

const OLD = { type: 'llm', engine: 'embedded', runner: 'worker', vision: undefined };
const NEW = { type: 'embedding', engine: 'llama-server', runner: 'process', vision: true };

it('shows the settings of the running engine until the next start applies the file', async () => {
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
