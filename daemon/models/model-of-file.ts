import type { ModelMetadata } from './read-metadata-in-child.ts';
import { type ModelSource, newModel, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import { newSpeechModel } from './speech-model.ts';
import { newWeightsModel } from './weights-model.ts';

/** Builds the model of a file from its metadata. */
export function modelOfFile(
  id: string,
  source: ModelSource,
  file: FoundFile,
  facts: ModelMetadata,
): RegisteredModel {
  if (!('kind' in facts)) return newModel(id, source, file, facts);
  if (facts.kind === 'weights') return newWeightsModel(id, source, file, facts);
  return newSpeechModel(id, source, file, facts);
}
