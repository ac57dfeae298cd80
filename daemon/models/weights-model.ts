import { foundAt, type ModelSource, NO_TEXT, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import type { WeightsMetadata } from './weights-metadata.ts';

/**
 * Builds a safetensors model that is registered for the first time, for engines in slot files (vllm,
 * comfyui).
 */
export const newWeightsModel = (
  id: string,
  source: ModelSource,
  folder: FoundFile,
  facts: WeightsMetadata,
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
  // Only the header of a GGUF file contains this.
  kvBytesPerToken: null,
  voices: [],
});
