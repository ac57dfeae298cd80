import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BindableModel } from '../binding/bindings.ts';
import type { SlotModel } from '../engines/engine.ts';
import type { Slots } from '../slots.ts';
import { MODEL } from './controller-bench.ts';
import { ManualClock } from './manual-clock.ts';
import { refusalOf } from './refusal-of.ts';
import { ScriptedRunner } from './scripted-runner.ts';
import { SlotsBench } from './slots-bench.ts';

export const GIB = 1024 ** 3;
const MODELS: readonly SlotModel[] = [
  { ...MODEL, id: 'small' },
  { ...MODEL, id: 'other' },
  { ...MODEL, id: 'huge', sizeBytes: 99 * GIB },
  { ...MODEL, id: 'vectors', type: 'embedding' },
];

/** Slots with a folder of slot files, four models, a scripted runner and a manual clock. */
export class AdminBench extends SlotsBench {
  readonly runner = new ScriptedRunner();
  readonly clock = new ManualClock();
  /** Models that slot files may name. */
  readonly models = [...MODELS];
  /** Models that get automatic slots. */
  bindable: BindableModel[] = [];

  openAdmin(): Slots {
    const { runner, clock } = this;
    return this.open({
      runner,
      clock,
      queryEngine: async (_, { body }) => {
        const { model = 'small' } = (body ?? {}) as { model?: string };
        const data = this.models.map(({ id }) => ({ id, embedding: [1] }));
        return { status: 200, body: JSON.stringify({ model, data, choices: [{}] }) };
      },
      models: () => this.bindable,
      // Slot `agent` without a model has its own file, so that it shares no engine.
      modelFor: ({ model, name }) =>
        model === null && name === 'agent'
          ? { ...(this.models[0] as SlotModel), path: '/m/agent.gguf' }
          : (this.models.find(({ id }) => id === model) ?? null),
    });
  }

  fileOf(name: string): string {
    return join(this.folders.config, 'slots', `${name}.toml`);
  }

  text(name: string): string {
    return readFileSync(this.fileOf(name), 'utf8');
  }
}

/** Returns the code of a refusal and the fields that it names. */
export async function refusedFields(promise: Promise<unknown>): Promise<[string, string[]]> {
  const { code, options } = await refusalOf(promise);
  return [code, ((options.details?.fields ?? []) as { path: string }[]).map(({ path }) => path)];
}
