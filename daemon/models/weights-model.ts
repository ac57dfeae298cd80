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
  metadata: WeightsMetadata,
): RegisteredModel => ({
  ...NO_TEXT,
  ...foundAt(folder),
  id,
  type: metadata.type,
  format: 'safetensors',
  architecture: metadata.architecture,
  quantization: metadata.quantization,
  size_bytes: metadata.sizeBytes,
  context_length: metadata.contextTrain,
  source,
  contextTrain: metadata.contextTrain,
  // Only the header of a GGUF file contains this.
  kvBytesPerToken: null,
  voices: [],
});
