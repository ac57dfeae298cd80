import { basename } from 'node:path';
import { ESPEAK_ID, type EspeakVoice } from './espeak-voices.ts';
import { piperSettingsName } from './piper-voice.ts';
import { foundAt, type ModelSource, NO_TEXT, type RegisteredModel } from './registered-model.ts';
import type { FoundFile } from './scan.ts';
import type { SpeechMetadata } from './speech-metadata.ts';
import { modelStem } from './split-files.ts';

/** Builds the speech model of a folder, or of a Piper voice, that is registered for the first time. */
export const newSpeechModel = (
  id: string,
  source: ModelSource,
  folder: FoundFile,
  metadata: SpeechMetadata,
): RegisteredModel => ({
  ...NO_TEXT,
  ...foundAt(folder),
  ...(metadata.isPiper && { files: [folder.path, piperSettingsName(folder.path)] }),
  name: metadata.isPiper ? modelStem(folder.path) : basename(folder.path),
  id,
  type: metadata.type,
  format: 'onnx',
  architecture: metadata.family,
  quantization: metadata.quantization,
  size_bytes: metadata.sizeBytes,
  source,
  voices: metadata.voices,
  language: metadata.type === 'tts' ? metadata.language : null,
});

/** Builds the model of the speech program, which needs no weights. */
export const espeakModel = (program: FoundFile, voices: readonly EspeakVoice[]): RegisteredModel => ({
  ...NO_TEXT,
  ...foundAt(program),
  id: ESPEAK_ID,
  name: 'eSpeak NG',
  type: 'tts',
  format: 'program',
  architecture: ESPEAK_ID,
  quantization: null,
  size_bytes: program.sizeBytes,
  source: 'program',
  voices: voices.map(({ id }) => id),
});
