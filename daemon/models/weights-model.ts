import { foundAt, type ModelSource, NO_TEXT, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import type { WeightsFacts } from './weights-facts.ts';

/** A folder of safetensors as it is registered the first time: for engines that slot files name (vllm, comfyui). */
export const newWeightsModel = (
  id: string,
  source: ModelSource,
  folder: FoundFile,
  facts: WeightsFacts,
): RegisteredModel => ({
  ...NO_TEXT,
  ...foundAt(folder),
  id,
  type: facts.type,
  format: 'safetensors',
  architecture: facts.architecture,
  quantization: facts.quantization,
  size_bytes: facts.sizeBytes,
  context_length: facts.contextTrain,
  source,
  contextTrain: facts.contextTrain,
  // The header of a GGUF file would say it; here nobody does.
  kvBytesPerToken: null,
  voices: [],
});
