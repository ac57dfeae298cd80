import type { SlotConfig } from '../config/slot-config.ts';
import { readSlotFile } from '../config/slot-file.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import { engineOf, slotObjection } from '../engines/table.ts';

/** Returns the settings of a slot file's text. Throws when it is invalid. */
export function configOf(text: string, name = 'agent'): SlotConfig {
  const { config, problems } = readSlotFile(`${name}.toml`, text);
  if (config === null) throw new Error(JSON.stringify(problems));
  return config;
}

/** Returns the launch of a slot file with 3 threads and this model. Throws when its engine objects. */
export function planOf(text: string, over: Partial<SlotModel> = {}): Launch {
  const config = configOf(text);
  const objection = slotObjection(config);
  if (objection !== null) throw new Error(objection);
  const model: SlotModel = {
    id: 'small',
    path: '/m/small.gguf',
    type: config.type,
    demo: false,
    sizeBytes: 2e9,
    contextTrain: 4096,
    ...over,
  };
  const launch = engineOf(config.engine)?.plan({ config, model, threads: 3, queueLimit: 8 });
  if (launch === undefined) throw new Error(`no engine ${config.engine}`);
  return launch;
}
