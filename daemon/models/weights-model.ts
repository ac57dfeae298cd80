import { basename } from 'node:path';
import { type ModelSource, NOT_PULLED, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import type { WeightsFacts } from './weights-facts.ts';

/** A folder of safetensors as it is registered the first time: for engines that slot files name (vllm, comfyui). */
export const newWeightsModel = (
  id: string,
  source: ModelSource,
  folder: FoundFile,
  facts: WeightsFacts,
): RegisteredModel => ({
  id,
  name: basename(folder.path),
  type: facts.type,
  format: 'safetensors',
  architecture: facts.architecture,
  quantization: facts.quantization,
  size_bytes: facts.sizeBytes,
  context_length: facts.contextTrain,
  enable_thinking: null,
  demo: false,
  binding: null,
  created: folder.mtimeS,
  source,
  path: folder.path,
  files: [folder.path],
  sizeBytes: folder.sizeBytes,
  mtimeS: folder.mtimeS,
  contextTrain: facts.contextTrain,
  parameters: null,
  layers: null,
  kvHeads: null,
  headDim: null,
  embedding: null,
  kvBytesPerToken: null,
  chatTemplate: false,
  capabilities: {},
  licence: null,
  voices: [],
  ...NOT_PULLED,
});
