import { ensureDemoModel } from '../../models/demo-model.ts';
import type { SlotModel } from '../engines/engine.ts';

/** For tests with real engines: returns the demonstration model, created in `folder`, as a slot model. */
export async function demoModel(folder: string): Promise<SlotModel> {
  const demo = await ensureDemoModel(folder);
  return { ...demo, type: 'llm', demo: true, sizeBytes: 1_000_000, contextTrain: 2_048 };
}
