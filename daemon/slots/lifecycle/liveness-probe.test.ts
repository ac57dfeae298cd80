import { expect, test } from 'vitest';
import { engineOf } from '../engines/table.ts';
import { slotConfig } from '../testing/controller-bench.ts';
import { livenessProbe } from './liveness-probe.ts';

const model = {
  ...{ id: 'small', path: '/m/small.gguf', type: 'llm' as const, demo: false },
  ...{ sizeBytes: 1e9, contextTrain: 4096 },
};

function signFor(text: string, name = 'agent') {
  const config = slotConfig(name, text);
  const engine = engineOf(config.engine);
  if (engine === undefined) throw new Error(`there is no engine ${config.engine}`);
  return livenessProbe(engine, engine.plan({ config, model, threads: 1, queueLimit: 8 }));
}

test('engines that respond while serving are always probed, others only while they are idle', () => {
  expect(signFor('')).toMatchObject({ query: { method: 'GET', path: '/health' }, answersWhileServing: true });
  expect(signFor('engine = "llama-server"')).toMatchObject({
    query: { path: '/health' },
    answersWhileServing: true,
  });
  expect(signFor('engine = "whisper-server"\ntype = "stt"\nmodel = "/m/ear.bin"', 'stt')).toMatchObject({
    answersWhileServing: false,
  });
});

test('attached servers and shared processes are not watched here', () => {
  expect(signFor('engine = "llama-server"\nrunner = "attach"\nurl = "http://127.0.0.1:9000"')).toBeNull();
  expect(signFor('engine = "flm"\nmodel = "llama3.2:1b"')).toBeNull();
});
